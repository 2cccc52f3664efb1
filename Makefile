# Every target says what it does and about how long it takes. `make` lists them.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PY := .venv/bin/python
# With compiled tests kept: to compile them anew is a third of a short run.
PYTEST := env -u PYTHONDONTWRITEBYTECODE PYTHONWARNINGS=default $(PY) -m pytest
STAMP := .venv/.installed
FUZZERS := .venv/.fuzzers
CODE := src tests
UNIT := tests/core tests/dialects tests/mutants $(wildcard tests/test_*.py)

.PHONY: help
help:  ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

$(STAMP): requirements-dev.txt pyproject.toml
	@echo "Installing into .venv: half a minute"
	@$(PYTHON) -m venv .venv
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: install
install: $(STAMP)  ## Create .venv with everything in it (30 s)

$(FUZZERS): requirements-fuzz.txt $(STAMP)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-fuzz.txt
	@touch $@

.PHONY: demo
demo: $(STAMP)  ## Agent and gateway here, with lines to paste; ARGS="--port 8799" and so on
	@.venv/bin/turnwire-lab demo $(ARGS)

.PHONY: node
node:  ## Install the AI SDK clients that the tests run (1 min)
	node tests/clients/install.mjs

.PHONY: fmt
fmt: $(STAMP)  ## Format the code
	$(PY) -m ruff check --fix --quiet $(CODE) || true
	$(PY) -m ruff format $(CODE)

.PHONY: lint
lint: $(STAMP)  ## Style, types, import rules; no tests (20 s)
	$(PY) -m ruff format --check $(CODE)
	$(PY) -m ruff check $(CODE)
	$(PY) -m mypy
	.venv/bin/lint-imports --no-logo

.PHONY: unit
unit: $(STAMP)  ## The fast tests, of all decisions: no sockets, no Node (10 s)
	$(PYTEST) -q -p no:logging -p no:cov -m "not sockets and not long" $(UNIT)

.PHONY: test
test: lint docs-check node $(FUZZERS)  ## Lint, docs, all tests but the two below, coverage (15 min)
	rm -f .coverage .coverage.*
	$(PYTEST) --ignore=tests/chaos --ignore=tests/soak --ignore=tests/load --cov=turnwire --cov=turnwire_lab --cov-report=
	$(PY) -m coverage report --skip-covered --include='src/turnwire/core/*,src/turnwire/dialects/*' --fail-under=100
	$(PY) -m coverage report --skip-covered

.PHONY: chaos
chaos: $(STAMP) system  ## Break lines, processes and clocks (2 min); LONG=1: more of it (7 min)
	LONG=$(LONG) $(PYTEST) -q -p no:cov tests/chaos

.PHONY: soak
soak: $(STAMP)  ## Everything at once, books balanced (75 s); MINUTES=30 SEED=7: longer, other dice
	MINUTES=$(MINUTES) SEED=$(SEED) $(PYTEST) -q -p no:cov -p no:logging tests/soak

.PHONY: load
load: $(STAMP)  ## Thousands of streams on one process, with figures; by hand (6 min)
	$(PYTEST) -q -p no:cov tests/load

.PHONY: system
system:  ## Install the Debian packages that the fault suite needs, if root (10 s)
	@tests/system.sh

.PHONY: ci
ci: test  ## What CI runs

.PHONY: golden
golden: $(STAMP)  ## Write the transcripts anew; their diff is the review
	GOLDEN=rewrite $(PY) -m pytest -q tests/core/test_golden.py
	git --no-pager diff --stat -- tests/golden

.PHONY: docs
docs: $(STAMP)  ## Write the generated tables of README.md and docs/ anew
	$(PY) -m turnwire_lab.docs

.PHONY: docs-check
docs-check: $(STAMP)  ## Fail if a generated table lags behind the code
	$(PY) -m turnwire_lab.docs --check

.PHONY: mutants
mutants: $(STAMP)  ## Plant faults, one at a time; the tests must catch each (5 min)
	$(PY) tests/mutants/run.py

.PHONY: fuzz
fuzz: $(FUZZERS)  ## Made-up frames and bodies against every decision (5 min); FOR=600: seconds a target
	$(PY) tests/attacks/fuzz/run.py --seconds $(or $(FOR),60)

.PHONY: locks
locks: $(STAMP)  ## Write requirements*.txt anew from pyproject.toml
	.venv/bin/uv pip compile -q --no-header --no-emit-index-url --no-annotate --generate-hashes \
	  --universal --python-version 3.11 pyproject.toml -o requirements.txt
	.venv/bin/uv pip compile -q --no-header --no-emit-index-url --no-annotate --generate-hashes \
	  --universal --python-version 3.11 --extra dev -c requirements.txt pyproject.toml \
	  -o requirements-dev.txt
	.venv/bin/uv pip compile -q --no-header --no-emit-index-url --no-annotate --generate-hashes \
	  --universal --python-version 3.11 --extra fuzz -c requirements-dev.txt pyproject.toml \
	  -o requirements-fuzz.txt

.PHONY: clean
clean:  ## Remove what the other targets made
	rm -rf .venv .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf .import_linter_cache tests/clients/*/node_modules
