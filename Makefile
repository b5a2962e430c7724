# make demo and make test install what they need into $(VENV): the core, or everything for
# development. Needed beforehand: Python 3.11 or newer, and the package registries.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV ?= .venv
# The newest of the Pythons that can be found; PYTHON=… names another.
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3 python; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo "$$python"; break; }; done)
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 17

install: $(VENV)/.dev ## the virtual environment with everything for tests and benchmarks

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found: install one, or name it: make PYTHON=…" >&2; exit 1; }
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); \
		echo "the virtual environment could not be made (Debian, Ubuntu: apt-get install python3-venv)" >&2; exit 1; }

# Installed again only after a change of pyproject.toml. .dev includes .core. The model comes from this
# repository; a source distribution lacks the model, and takes that of the package index.
$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) install $(wildcard ./packaging/recallm-minilm) --editable '.[dev]'
	@touch $(VENV)/.core $@

demo: $(VENV)/.core ## the paper's own examples, and questions to a real text (installs the core only)
	@$(BIN)/recallm demo

# A file of tests stays on one of the two workers; the slowest files do not come last.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

check: $(VENV)/.dev ## a minute: ruff, imports, mypy, and the fast tests (no Neo4j, no browser)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache --no-logo
	@$(MAKE) --jobs=2 --output-sync mypy fast-tests

mypy: $(VENV)/.dev
	$(BIN)/mypy

fast-tests: $(VENV)/.dev
	$(PYTEST) -m "not slow and not nightly" --hypothesis-profile=fast

test: lint ## all that CI runs: lint, then the tests
	@$(PYTEST)

test-nightly: $(VENV)/.dev ## the long loops of kills, forks and interrupts, training, Hypothesis in full
	$(PYTEST) -m "nightly or hypothesis" --hypothesis-profile=nightly

coverage: $(VENV)/.dev ## the tests, and the lines that none of them runs (a floor stands in pyproject.toml)
	$(BIN)/python -m coverage run -m pytest
	$(BIN)/python -m coverage report

lint: $(VENV)/.dev ## ruff, mypy, pyright, import-linter
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	@# PYRIGHT_PYTHON_…: no notice of newer versions.
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright
	$(BIN)/lint-imports --no-cache --no-logo

format: $(VENV)/.dev ## format the code
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

THIN := langchain-recallm llama-index-memory-recallm

dist: $(BIN)/python ## everything that a release publishes, into dist/
	$(PIP) install build twine
	rm -rf dist
	$(BIN)/python -m build
	@for each in recallm-minilm $(THIN); do \
		$(BIN)/python -m build --wheel --outdir dist packaging/$$each || exit 1; done
	$(BIN)/python -m twine check --strict dist/*

check-dist: dist ## install what was built into clean environments, and run README there
	$(BIN)/python packaging/check.py dist README.md

docs: $(VENV)/.dev ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

bench: $(VENV)/.dev ## the speed and memory figures of the README (some minutes)
	$(BIN)/python -m benchmarks.ingest
	$(BIN)/python -m benchmarks.latency
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.adapters

clean: ## delete the virtual environment, caches and builds
	rm -rf $(VENV) .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist tests/neo4j/target
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help install demo check mypy fast-tests test test-nightly coverage lint format dist check-dist docs bench clean
