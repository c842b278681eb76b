# The two commands of the README, and a few beside them. `make` alone lists them.
# Another interpreter: make app PYTHON=python3.12        Some tests only: make test ARGS="-k vpt"

PYTHON ?= python3
ARGS ?=
ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif

# Threads that wait should sleep, not spin: on busy cores the demo took 24 s instead of 41.
export OMP_WAIT_POLICY ?= PASSIVE

.DEFAULT_GOAL := help
.PHONY: help app demo test lint format setup-app setup-test clean distclean

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'

app: setup-app ## set up, then open the explorer in the browser
	$(BIN)/python -m rfm_explorer $(ARGS)

demo: setup-app ## set up, then run the engine's demo on the terminal
	$(BIN)/python -m rfm_core demo

# Three at a time on two cores, because browser tests wait half of their time; and one thread each:
# threads of torch that compete are ten times slower.
test: export OMP_NUM_THREADS ?= 1
test: lint ## set up, lint, then run every test
	$(BIN)/python -m pytest -n 3 --dist worksteal $(ARGS)

lint: setup-test ## ruff and mypy
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check
	$(BIN)/python -m mypy

format: setup-test ## put the code into its standard form
	$(BIN)/python -m ruff check --fix
	$(BIN)/python -m ruff format

setup-app:
	@$(PYTHON) .ci/setup.py app

setup-test:
	@$(PYTHON) .ci/setup.py test

clean: ## remove caches and build products
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find rfm_core app tests -type d -name __pycache__ -prune -exec rm -rf {} +

distclean: clean ## also remove the environment in .venv
	rm -rf .venv
