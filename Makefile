# Every target prepares what it needs in .venv; nothing is installed outside of it.
# A stamp file per purpose records what is installed, and is redone when pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
# These tests count work: they cannot share a process with coverage, which would be counted too.
# Property tests run without it for their speed; the examples alone must reach the bound.
COST := tests/test_cost.py
METADATA := pyproject.toml src/jsontide/_version.py

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test lint types docs bench fuzz build clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.cli ## Replay a bundled text in token-sized pieces and watch its value grow
	$(VENV)/bin/jsontide watch examples/itinerary.json

test: lint types ## Check everything: lint, types, all tests, branch coverage of at least 98 %
	$(PY) -m coverage erase
	$(PY) -m coverage run -m pytest -m 'not hypothesis' --ignore=$(COST)
	$(PY) -m coverage combine --quiet
	$(PY) -m coverage report
	$(PY) -m pytest $(COST)
	$(PY) -m pytest tests -m hypothesis --ignore=$(COST)

lint: $(VENV)/.test ## Check style and formatting with ruff
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/.test ## Check types with mypy in strict mode
	$(VENV)/bin/mypy

docs: $(VENV)/.docs ## Regenerate the command line reference and build the documentation into site/
	$(PY) docs/gen_cli.py
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet
	@echo "built: site/index.html"

bench: $(VENV)/.bench ## Compare the cost of a chunk with jiter's re-parse
	$(PY) -m benchmarks

fuzz: $(VENV)/.test ## Run the property tests with twenty times the examples (half an hour)
	HYPOTHESIS_PROFILE=fuzz $(PY) -m pytest tests -m hypothesis

build: $(VENV)/.build ## Build the source distribution and the wheel into dist/
	rm -rf dist
	$(PY) -m build

clean: ## Remove everything that the other targets made, .venv included
	rm -rf $(VENV) build dist site htmlcov .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@command -v $(PYTHON) >/dev/null || { echo "error: $(PYTHON) not found; install Python 3.11 or newer, or name one: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: jsontide needs Python 3.11 or newer and $(PYTHON) is older; install one, or name it: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "error: $(PYTHON) cannot create virtual environments; install the venv module (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade 'pip>=25.1'

$(VENV)/.cli: $(METADATA) | $(PY)
	$(PIP) --editable '.[cli]'
	@touch $@

$(VENV)/.test: $(METADATA) | $(PY)
	$(PIP) --editable '.[all]' --group test --group lint --group bench
	@touch $@

$(VENV)/.docs: $(METADATA) | $(PY)
	$(PIP) --editable '.[all]' --group docs
	@touch $@

$(VENV)/.bench: $(METADATA) | $(PY)
	$(PIP) --editable . --group bench
	@touch $@

$(VENV)/.build: $(METADATA) | $(PY)
	$(PIP) --group build
	@touch $@
