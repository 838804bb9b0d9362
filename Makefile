# Every target sets up what it needs in .venv, and is quick when nothing changed.
#
#   PYTHON=python3.12    another interpreter than python3, when .venv is made
#   TORCH_INDEX=URL      another package index for torch alone, see requirements-lock.txt

PYTHON ?= python3
TORCH_INDEX ?=

BIN := .venv/bin
READY := .venv/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
TORCH := $(shell grep '^torch==' requirements-lock.txt)
TORCH_FROM := $(if $(TORCH_INDEX),--no-deps --index-url $(TORCH_INDEX),--constraint requirements-lock.txt)

.DEFAULT_GOAL := help
.PHONY: help venv audit test check bench notebooks clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

venv: $(READY) ## install everything into .venv, exactly as pinned

audit: $(READY) ## run a small audit from data to verdicts and print its board: about two minutes, again at once
	@$(BIN)/python -m experiments.run_audit --mode smoke --resume

test: check ## what CI runs: lint, types, import contracts, then all tests
	@echo "== tests, on all cores"
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadgroup

check: $(READY) ## the quick part of test: lint, types, import contracts
	@echo "== lint"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo "fix: $(BIN)/ruff format ."; exit 1; }
	@echo "== types"
	@$(BIN)/mypy
	@echo "== import contracts"
	@$(BIN)/lint-imports --no-logo

bench: $(READY) ## measure speed against named peers and the machine's own limit; writes benchmarks/RESULTS.md
	@$(BIN)/python -m benchmarks.run

notebooks: $(READY) ## execute all notebooks; results go to scratch/notebooks
	@set -e; for book in notebooks/*.ipynb; do \
	  if [ ! -e "$$book" ]; then echo "there are no notebooks yet: nothing to execute"; break; fi; \
	  echo "== $$book"; \
	  $(BIN)/python -m nbconvert --to notebook --execute --output-dir scratch/notebooks "$$book"; \
	done

clean: ## remove .venv and all caches; scratch/ stays
	@rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find wm_audit experiments tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(READY): requirements-lock.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: make venv PYTHON=/path/to/python3.11"; exit 2; }
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv || \
	  { echo "no virtual environment could be made (Debian: apt-get install python3-venv)"; exit 2; }
	@echo "installing $(TORCH): 200 MB on the CPU, several GB with CUDA"
	@$(PIP) $(TORCH_FROM) $(TORCH)
	@echo "installing the other pinned packages: some 250 MB, a minute or two"
	@$(PIP) --no-deps --requirement requirements-lock.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@
