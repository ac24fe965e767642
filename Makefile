# Needs Python 3.11 or newer, make, and the package index; everything else is installed in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# The build tools come from constraints.txt as well, so they are installed first.
INSTALL_PACKAGE := $(INSTALL) hatchling editables && $(INSTALL) --no-build-isolation --editable
# Made once installed: setup is repeated only when what it installs has changed.
RUN := $(VENV)/installed
DEV := $(VENV)/installed-dev
BENCH := $(VENV)/installed-bench
TEXT_DEDUP := $(VENV)/text-dedup

.DEFAULT_GOAL := help
.PHONY: help setup demo live kafka test soak mutants check bench clean

help: ## List the targets
	@echo "Usage: make TARGET [PYTHON=python3.12] [STREAM_DEDUP_CORPORA=directory of corpora]"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(DEV) ## Create .venv with the package and its tools; other targets install what they need

demo: $(RUN) ## Watch a made-up news feed being matched: half a minute, the first time somewhat more
	@echo "$$ stream-dedup demo"
	@$(BIN)/stream-dedup demo

live: PORT = 8080
live: $(RUN) ## Show the live page on a feed of made-up news until Ctrl-C, [PORT=8080]; needs Java and Maven
	@exec $(BIN)/python deploy/live.py --port '$(PORT)'

# Not those of the environment, where others may use these names.
kafka: PORT = 9092
kafka: DATA = deploy/kafka-local/data
kafka: ## Run a Kafka broker until Ctrl-C, [PORT=9092] (0: any) [DATA=directory]; needs Java and Maven
	@exec $(PYTHON) deploy/kafka-local/broker.py --port '$(PORT)' --data '$(DATA)'

# Trials wait as much as they compute: two more at a time than there are cores.
test: $(DEV) ## Run the tests: ten minutes
	$(BIN)/python -m pytest --numprocesses $$(( $$(getconf _NPROCESSORS_ONLN) + 2 )) --dist worksteal

soak: $(DEV) ## Run the long trials: more trials, other seeds, whole corpora
	$(BIN)/python -m pytest --numprocesses auto -m soak

mutants: $(DEV) ## Delete statements of the engine one by one; list those that no test misses: hours
	$(BIN)/python -m tests.mutation

check: $(DEV) ## Check format, lint, types, architecture and documentation
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy stream_dedup tests $(wildcard benchmarks) $(wildcard deploy/*.py deploy/*/*.py)
	$(BIN)/python -m pytest --quiet tests/test_*.py

bench: $(BENCH) $(if $(QUICK),,$(TEXT_DEDUP)) ## Measure speed and quality beside other libraries: an hour, with Java and Maven; [QUICK=1] five minutes
ifdef QUICK
	$(BIN)/python -m benchmarks.quick
else
	$(BIN)/python -m benchmarks.sign
	$(BIN)/python -m benchmarks.engine
	$(BIN)/python -m benchmarks.pairs
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.recall
	$(BIN)/python -m benchmarks.corpora
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.window
	$(BIN)/python -m benchmarks.service
	$(BIN)/python -m benchmarks.render
endif

clean: ## Remove .venv and all that was built or cached
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist deploy/kafka-local/libs
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "error: Python 3.11 or newer is needed, and '$(PYTHON)' is not; name one: make PYTHON=python3.12 …" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "error: '$(PYTHON)' lacks its venv module; on Debian and Ubuntu: apt install python3-venv" >&2; exit 2; }
	@echo "Creating $(VENV) …"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(RUN): $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing what the package needs …"
	@$(INSTALL_PACKAGE) .
	@touch $@

$(DEV): $(RUN)
	@echo "Installing what its tools need …"
	@$(INSTALL_PACKAGE) '.[dev]'
	@touch $@

$(BENCH): $(DEV)
	@echo "Installing the libraries to measure against …"
	@$(INSTALL_PACKAGE) '.[dev,bench]'
	@touch $@

# It wants older versions of what the others share. Where it cannot be installed, recall is measured
# without it, and RESULTS.md says so.
$(TEXT_DEDUP): $(BIN)/python
	@echo "Installing text-dedup in an environment of its own …"
	@$(PYTHON) -m venv $@
	@$@/bin/python -m pip install --quiet --disable-pip-version-check 'text-dedup==0.4.0' || { \
	    rm -rf $@; echo "text-dedup cannot be installed here; going on without it" >&2; }
