"""The bill of materials of an npm package, from what `npm sbom` writes; `release.sh` calls this.

npm calls a package by its folder, and writes a time and a number of its own. What the files of a
package contain, npm does not know: where the build of one writes `dist/bundled.json`, the bill has
those libraries. All but ours have to be in its lock.
"""

import datetime as dt
import json
import os
import sys
from pathlib import Path
from typing import Any


def bill_of(sbom: dict[str, Any], folder: Path, seconds: int) -> dict[str, Any]:
    """Return the bill of the package in a folder, as of a time."""
    name = json.loads((folder / "package.json").read_text(encoding="utf-8"))["name"]
    at = dt.datetime.fromtimestamp(seconds, dt.UTC)
    metadata = sbom["metadata"] | {"timestamp": at.isoformat()}
    metadata["component"] = metadata["component"] | {"name": name}
    bill = {key: value for key, value in sbom.items() if key != "serialNumber"}
    bill["metadata"] = metadata
    bundled = folder / "dist/bundled.json"
    if not bundled.exists():
        return bill
    libraries = json.loads(bundled.read_text(encoding="utf-8"))
    return bill | with_bundled(bill, libraries)


def with_bundled(bill: dict[str, Any], libraries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return components and dependencies: what is bundled, and nothing else of the lock."""
    locked = {(each["name"], each["version"]): each for each in bill["components"]}
    found = [
        ours(each)
        if each["name"].startswith("turnwire-")
        else locked[each["name"], each["version"]] | {"scope": "required", "properties": []}
        for each in libraries
    ]
    refs = sorted(each["bom-ref"] for each in found)
    needs = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    needs[bill["metadata"]["component"]["bom-ref"]] = refs
    by_name = {each["name"]: each["bom-ref"] for each in found}
    for each, component in zip(libraries, found, strict=True):
        needs.setdefault(component["bom-ref"], [by_name.get(name, "") for name in each["needs"]])
    dependencies = [
        {"ref": ref, "dependsOn": [each for each in needs.get(ref, []) if each in refs]}
        for ref in (bill["metadata"]["component"]["bom-ref"], *refs)
    ]
    return {"components": found, "dependencies": dependencies}


def ours(library: dict[str, Any]) -> dict[str, Any]:
    """Return the component of a package of this repository, which no lock names."""
    name, version = library["name"], library["version"]
    return {
        "bom-ref": f"{name}@{version}",
        "type": "library",
        "name": name,
        "version": version,
        "scope": "required",
        "purl": f"pkg:npm/{name}@{version}",
        "licenses": [{"license": {"id": library["license"]}}],
    }


if __name__ == "__main__":
    seconds = int(os.environ["SOURCE_DATE_EPOCH"])
    json.dump(bill_of(json.load(sys.stdin), Path(), seconds), sys.stdout, indent=2)
