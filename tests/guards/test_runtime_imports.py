"""What an import of the agent runtime loads: it lasts as long as that."""

import json
import subprocess
import sys
from typing import Final

CODE: Final = """\
import importlib, json, sys
before = set(sys.modules)
importlib.import_module(sys.argv[1])
print(json.dumps(sorted(set(sys.modules) - before)))
"""
OF_HTTP: Final = {"anyio", "certifi", "h11", "httpcore", "httpx", "idna", "sniffio"}
OF_ITS_COMMAND: Final = {"click", "markdown_it", "mdurl", "pygments", "rich"}
"""httpx has a command line, and imports what that needs wherever it is installed."""


def loaded(module: str) -> list[str]:
    command = (sys.executable, "-c", CODE, module)
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    modules: list[str] = json.loads(ran.stdout)
    return modules


def foreign(modules: list[str]) -> set[str]:
    """The packages that are not of the standard library, but their private modules."""
    roots = {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)
    return {root for root in roots if not root.startswith("_")}


def test_the_package_alone_loads_nothing_but_itself() -> None:
    modules = loaded("turnwire_agent")

    assert foreign(modules) == {"turnwire_agent"}
    assert [name for name in modules if name.startswith("turnwire_agent.")] == []


def test_the_call_of_a_model_loads_http_and_json_and_no_other_part() -> None:
    modules = loaded("turnwire_agent.llm.call.stream")

    brought = {"turnwire_agent", "msgspec", "typing_extensions"} | OF_HTTP | OF_ITS_COMMAND
    assert foreign(modules) <= brought
    ours = {name for name in modules if name.startswith("turnwire_agent.")}
    assert {".".join(name.split(".")[:2]) for name in ours} == {"turnwire_agent.llm"}
