# Needs make, sh and Python 3.11 or newer (any name on PATH, or PYTHON=...); everything else goes into .venv.
.POSIX:
.PHONY: help setup demo test test-slow slow-short lint format types layers wheel-test compiled compiled-test eval docs bench mutants sim sim-long sim-bugs ci clean run-env dev-env

BIN = .venv/bin
PYTEST = $(BIN)/pytest
WHEEL_TEST = tests/packaging/test_wheel.py
COMPILED_TEST = tests/packaging/test_compiled.py
SIM_JOBS = 2 # simulated worlds at once
ARGS = # for pytest: make test ARGS="-n 2 tests/beliefs"

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' Makefile

run-env:
	@sh .ci/setup run

dev-env:
	@sh .ci/setup dev

setup: dev-env ## make .venv with everything for development (repairs links, too)

demo: run-env ## a short run of the product on your terminal
	$(BIN)/beliefbase demo

test: dev-env ## the tests that take seconds
	$(PYTEST) -m "not slow" $(ARGS)

test-slow: dev-env ## the long ones in full: state machines, simulations, the wheel
	$(PYTEST) -m slow --durations=10 $(ARGS)

slow-short: dev-env ## the long ones scaled down (without the wheels)
	BELIEFBASE_SLOW_SCALE=$${BELIEFBASE_SLOW_SCALE:-0.1} $(PYTEST) -m slow --durations=10 --ignore=$(WHEEL_TEST) --ignore=$(COMPILED_TEST)

lint: dev-env ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: dev-env ## let ruff fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: dev-env ## mypy --strict, and that it saw every file
	sh .ci/types

layers: dev-env ## imports point one way; duckdb and eventsourcing stay in their places
	$(BIN)/lint-imports

wheel-test: dev-env ## build sdist and wheel, install the wheel elsewhere, use it
	$(PYTEST) -v $(WHEEL_TEST)

compiled: dev-env ## a wheel for this Python and machine with the fold compiled, in dist/ (needs a C compiler)
	BELIEFBASE_COMPILE=1 $(BIN)/python -P -m build --wheel .

compiled-test: dev-env ## build the compiled wheel, install it elsewhere, compare its answers; skipped without a compiler
	$(PYTEST) -v -rs $(COMPILED_TEST)

eval: dev-env ## how well the rules read speech acts
	$(BIN)/python bench/eval_speech_acts.py

docs: dev-env ## write the pages that are made from the code: events, tables, commands
	@for script in docs/generate_*.py; do $(BIN)/python "$$script" || exit 1; done

bench: dev-env ## what things cost: every script of bench/ but evaluations and planted bugs
	@for script in bench/*.py; do \
	    case $$script in */eval_*|*/compiled.py|*/mutants.py|*/planted.py) continue ;; esac; \
	    printf '\n=== %s\n' "$$script"; $(BIN)/python "$$script" || exit 1; \
	done

mutants: dev-env ## planted bugs: the tests must find each
	$(BIN)/python bench/mutants.py

sim: dev-env ## 300 simulated worlds of stores, clocks, networks, crashes (docs/simulator.md)
	$(BIN)/python -P tests/sim/run.py --seeds 300 --jobs $(SIM_JOBS)

sim-long: dev-env ## 10,000 of them: hours
	$(BIN)/python -P tests/sim/run.py --seeds 10000 --jobs $(SIM_JOBS)

sim-bugs: dev-env ## bugs planted in the log, the clock, sync, erasure: the simulated worlds must find each within 500 seeds
	$(BIN)/python -P tests/sim/bugs.py --jobs $(SIM_JOBS) $(ARGS)

ci: ## everything CI runs, in under half an hour on two cores
	bash .ci/run

clean: ## remove builds and caches (.venv stays)
	rm -rf dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find . -name .venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
