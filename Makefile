# Every target prepares what it needs in .venv; nothing is installed outside of it.
# The compiled build lives in .venv-compiled, installed like any user's: .venv follows the source and stays pure.
# A stamp file per purpose records what is installed, and is redone when pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
PY := $(VENV)/$(BIN)/python
# JSONTIDE_PURE: an editable install is pure anyway, and so nothing is fetched that only compiling needs.
PIP := JSONTIDE_COMPILED= JSONTIDE_PURE=1 $(PY) -m pip install --quiet --disable-pip-version-check --no-compile
COMPILED_VENV := .venv-compiled
# The libraries that are compared by their tool calls need other versions of packages than the tests do.
PEERS_VENV := .venv-peers
# The tools that read bad JSON; jsonrepair, which npm installs, comes on top.
MEND_PEERS := 'baml-py>=0.226' 'json-repair[schema]>=0.64' 'langchain-core>=1.7' 'partial-json-parser>=0.2.1'
COMPILED_PY := $(COMPILED_VENV)/$(BIN)/python
COMPILED_PIP := JSONTIDE_COMPILED=1 JSONTIDE_PURE= JSONTIDE_BUILD_DIR=build/compiled $(COMPILED_PY) -m pip install --quiet --disable-pip-version-check
JSONTIDE := $(VENV)/$(BIN)/jsontide
# Where `make chat` serves.
PORT ?= 8000
# Empty: what is missing on this machine is left out, and said. Set, as by .ci/run: it fails.
COMPLETE ?=
# The same for the compiled build alone.
MUST_COMPILE ?= $(COMPLETE)
export JSONTIDE_COMPLETE := $(COMPLETE)
WHY_NOT_COMPILED = $(if $(MUST_COMPILE),,$$($(PY) -c 'import hatch_build; print(hatch_build.obstacle() or "")'))
# As many processes as processors. Examples of a document stay together.
PARALLEL := --numprocesses=auto --dist=loadscope
# Without these caches each process would compile all tests and sources anew.
export PYTHONDONTWRITEBYTECODE :=
METADATA := pyproject.toml src/jsontide/_version.py
SOURCES := hatch_build.py $(shell find src -name '*.py')

.DEFAULT_GOAL := help
# One after another, but for what `make test` does at the same time.
ifndef CONCURRENT
.NOTPARALLEL:
endif
.DELETE_ON_ERROR:
.PHONY: help demo studio agent chat node clients pyodide check test test-pure test-compiled test-long test-dist lint types docs bench count growth durable peers mend-peers fuzz build wheels clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.cli ## Play a recorded answer with thinking, tool calls and a plan, live in the terminal
	@$(JSONTIDE) watch --speed 1.2 examples/chat/recording.ndjson
	@echo
	@echo "Try next:"
	@echo "  $(JSONTIDE) watch examples/itinerary.json"
	@echo "  $(JSONTIDE) replay --step examples/chat/recording.ndjson | $(JSONTIDE) watch"
	@echo "  $(JSONTIDE) get 'parts[*].arguments.days[*].title' examples/chat/recording.ndjson"
	@echo "  $(JSONTIDE) stats examples/chat/recording.ndjson --plot answer.svg"
	@echo "  $(JSONTIDE) record -o turn.ndjson -- curl -N ..."
	@echo "  make studio"
	@echo "  make chat"

studio: $(VENV)/.studio ## Step through the same answer in the browser, moment by moment
	@$(JSONTIDE) studio examples/chat/recording.ndjson

agent: $(VENV)/.agent ## Run an agent that calls a tool, against a server on this machine
	$(PY) examples/agent.py

chat: $(VENV)/.chat ## Serve a chat whose answers grow in the browser (PORT=8000)
	@$(PY) examples/chat $(PORT)

node: ## Install the front ends' own parsers, which tests feed, with npm
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory tests/node/node_modules/.stamp; \
	else \
		echo "skipped: the packages of tests/node: npm is not installed"; \
	fi

clients: $(VENV)/.test node ## Feed every recording, cut after every event, to the front ends' own clients (an hour)
	$(PY) -m tests.frontends.every_cut

pyodide: node ## Check laws, held values and recordings with the pure build in Pyodide, a Python for browsers
	@if command -v node >/dev/null && [ -d tests/node/node_modules/pyodide ]; then \
		node tests/node/pyodide.mjs; \
	else \
		echo "skipped: the checks in Pyodide: they need node and npm"; \
	fi

check: lint types ## Check in a minute: lint, types, and quick tests of what changed
	$(PY) -m pytest -q $(PARALLEL) $$($(PY) -m tests.changed)

# The compiler starts while packages are installed; then lint, types and the tests in pure Python run beside it.
test: $(PY) ## Check everything: lint, types, and the tests of both builds (about six minutes)
	@$(MAKE) --no-print-directory --jobs=2 CONCURRENT=1 compiled pure
	@$(MAKE) --no-print-directory test-compiled

.PHONY: pure compiled
pure:
	@$(MAKE) --no-print-directory $(VENV)/.test
	@$(MAKE) --no-print-directory lint types test-pure

compiled: $(PY)
	@reason=$(WHY_NOT_COMPILED); [ -n "$$reason" ] || $(MAKE) --no-print-directory $(COMPILED_VENV)/.built

test-pure: export JSONTIDE_EXPECT := pure
test-pure: $(VENV)/.test ## Run the tests in pure Python
	$(PY) -m pytest -q $(PARALLEL)

test-compiled: $(VENV)/.test ## Run the tests of what is compiled against the compiled build, as it is installed
	@$(call with_the_compiled_build,-m 'not long and not once' tests)

# $(1): what to run of the tests.
define with_the_compiled_build
reason=$(WHY_NOT_COMPILED); \
if [ -n "$$reason" ]; then \
	echo "left out: the tests of the compiled build: $$reason"; \
else \
	$(MAKE) --no-print-directory $(COMPILED_VENV)/.built && \
	JSONTIDE_EXPECT=compiled JSONTIDE_OTHER_PYTHON=$(abspath $(PY)) $(COMPILED_PY) -m pytest -q $(PARALLEL) $(1); \
fi
endef

test-long: export HYPOTHESIS_PROFILE := long
test-long: $(VENV)/.test-long node pyodide ## Check at length: coverage, every cut, browsers, counted instructions, all tests with the compiled build (an hour at most)
	$(PY) -m coverage erase
	JSONTIDE_EXPECT=pure $(PY) -m coverage run -m pytest -q $(PARALLEL) -m 'not hypothesis and not untraced'
	$(PY) -m coverage combine --quiet
	$(PY) -m coverage report
	JSONTIDE_EXPECT=pure $(PY) -m pytest -q $(PARALLEL) -m 'hypothesis or untraced'
	@$(call with_the_compiled_build,-m 'long or once or hypothesis')
	@$(MAKE) --no-print-directory count

test-dist: build ## Install each distribution into an empty environment and try it
	JSONTIDE_DIST=dist $(PY) -m pytest tests/test_distributions.py

lint: $(VENV)/.test ## Check style and formatting with ruff, and the workflows by their schema
	$(VENV)/$(BIN)/ruff check .
	$(VENV)/$(BIN)/ruff format --check .
	$(VENV)/$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml

types: $(VENV)/.test ## Check types with mypy in strict mode
	$(VENV)/$(BIN)/mypy

docs: $(VENV)/.docs ## Regenerate the command line reference and the pictures, and build the documentation into site/
	$(PY) docs/gen_cli.py
	$(PY) docs/gen_pictures.py
	NO_MKDOCS_2_WARNING=1 $(VENV)/$(BIN)/mkdocs build --strict --quiet
	@echo "built: site/index.html"

bench: $(VENV)/.bench ## Measure chunks and whole streams beside other libraries, and write pages of docs/measured (half an hour)
	$(PY) -m benchmarks
	$(PY) -m benchmarks.whole_way
	$(PY) -m benchmarks.bridges
	$(PY) -m benchmarks.archives

# The optimized build, as users get it; made once for each state of the sources, in build/bench.
count: $(VENV)/.test ## Count the instructions of nine ways with valgrind, and compare them with benchmarks/counts.json (UPDATE=1 writes it)
	$(PY) -m benchmarks.count $(if $(UPDATE),--update)

growth: $(VENV)/.test ## Measure how work grows with hostile input, and write docs/measured/growth.md (ten minutes)
	$(PY) -m benchmarks.growth

durable: $(VENV)/.test ## Measure durable turns in Redis and in a file, and write docs/measured/durable.md (eight minutes)
	$(PY) -m benchmarks.durable

peers: $(PEERS_VENV)/.peers ## Feed tool calls of all shapes to other libraries, and write docs/measured/tool-calls.md
	$(PEERS_VENV)/$(BIN)/python -m benchmarks.tool_calls

mend-peers: $(PEERS_VENV)/.mend-peers ## Feed bad JSON to other tools, and write docs/measured/mend-peers.md
	$(PEERS_VENV)/$(BIN)/python -m benchmarks.mend_peers

fuzz: $(VENV)/.test ## Draw new examples for the property tests, seed after seed (MINUTES=10; SEED=, TESTS= repeat one)
	@MINUTES=$(MINUTES) SEED=$(SEED) TESTS=$(TESTS) $(PY) -m tests.fuzz

build: $(VENV)/.build ## Build into dist/: the source distribution, and from it the compiled and the pure wheel
	rm -rf dist
	JSONTIDE_COMPILED=1 JSONTIDE_PURE= $(PY) -m build
	JSONTIDE_COMPILED= JSONTIDE_PURE=1 $(PY) -m pip wheel --quiet --no-deps --wheel-dir dist dist/*.tar.gz

wheels: $(VENV)/.build ## Build compiled wheels for all versions of Python into dist/ (on Linux this needs Docker)
	$(PY) -m cibuildwheel --output-dir dist

clean: ## Remove everything that the other targets made, all environments included
	rm -rf $(VENV) $(COMPILED_VENV) $(PEERS_VENV) tests/node/node_modules build dist site htmlcov .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@command -v $(PYTHON) >/dev/null || { echo "error: $(PYTHON) not found; install Python 3.11 or newer, or name one: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: jsontide needs Python 3.11 or newer and $(PYTHON) is older; install one, or name it: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "error: $(PYTHON) cannot create virtual environments; install the venv module (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade 'pip>=25.1' 'hatchling>=1.27' # hatch_build.py tells what hinders compiling

$(VENV)/.cli: $(METADATA) | $(PY)
	$(PIP) --editable '.[cli]'
	@touch $@

$(VENV)/.studio: $(METADATA) | $(PY)
	$(PIP) --editable '.[cli,studio]'
	@touch $@

$(VENV)/.agent: $(METADATA) | $(PY)
	$(PIP) --editable '.[pydantic]'
	@touch $@

$(VENV)/.chat: $(METADATA) | $(PY)
	@$(PIP) --editable '.[web,redis,pydantic]' --group chat || { echo "error: could not install FastAPI, uvicorn, httpx and pydantic into $(VENV), which the chat needs; see above" >&2; exit 1; }
	@touch $@

tests/node/node_modules/.stamp: tests/node/package.json
	cd tests/node && npm install --no-audit --no-fund --no-package-lock
	@touch $@

$(VENV)/.test: $(METADATA) | $(PY)
	$(PIP) --editable '.[all]' --group test --group lint
	$(PIP) --no-deps --group test-alone
	@touch $@

$(VENV)/.test-long: $(VENV)/.test
	$(PIP) --group test-long
	@touch $@

$(VENV)/.docs: $(METADATA) | $(PY)
	$(PIP) --editable '.[all]' --group docs
	@touch $@

$(VENV)/.bench: $(METADATA) | $(PY)
	$(PIP) --editable . --group bench
	$(PIP) --no-deps --group bench-alone
	@touch $@

$(VENV)/.build: $(METADATA) | $(PY)
	$(PIP) --group build --group test
	@touch $@

$(PEERS_VENV)/.peers: $(METADATA) | $(PY)
	$(PY) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	JSONTIDE_COMPILED= JSONTIDE_PURE=1 $(PEERS_VENV)/$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group peers
	@touch $@

# One by one: a tool that cannot be installed here is left out of the table, which says so.
$(PEERS_VENV)/.mend-peers: $(PEERS_VENV)/.peers
	for tool in $(MEND_PEERS); do \
		$(PEERS_VENV)/$(BIN)/python -m pip install --quiet --disable-pip-version-check $$tool || echo "left out: $$tool"; \
	done
	npm install --silent --prefix $(PEERS_VENV) 'jsonrepair@>=3.15' || echo "left out: jsonrepair"
	@touch $@

$(COMPILED_PY): | $(PY)
	$(PY) -m venv $(COMPILED_VENV)
	$(COMPILED_PIP) --upgrade 'pip>=25.1'

# Our own package is installed here; what its extras and the tests need is taken from the other environment.
PACKAGES = -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
$(COMPILED_VENV)/.built: $(METADATA) $(SOURCES) | $(COMPILED_PY)
	$(COMPILED_PIP) --no-deps --force-reinstall .
	$(PY) $(PACKAGES) > "$$($(COMPILED_PY) $(PACKAGES))/taken.pth"
	@touch $@
