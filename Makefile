# `make help` lists what there is. Each target sets up .venv first where that is needed.
.DEFAULT_GOAL := help
.PHONY: help run test test-long check bench lock docs format clean
BIN := .venv/bin
export PYTHON

help: ## This list
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: .venv/.run ## Try Muninn here: services, a Discord on loopback, the bot, a page and a prompt
	@$(BIN)/muninn sandbox

# More than the two cores that they are kept quick on: half of what a test takes is waiting, for clocks and answers.
WORKERS = 4

test: .venv/.dev ## The tests, in a few minutes
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not long"

test-long: .venv/.dev ## All tests, with all seeds
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

check: .venv/.dev ## Lint, format, types, imports, migrations, Dockerfile
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/squawk --config .squawk.toml migrations/*.sql
	$(BIN)/deptry .
	$(BIN)/hadolint Dockerfile

bench: .venv/.dev ## All benchmarks; results in bench/out/
	$(BIN)/python -m bench

bench-%: .venv/.dev ## One benchmark, by name
	$(BIN)/python -m bench $*

format: .venv/.dev ## Put the code into its format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: .venv/.run ## Write the pages of docs/reference that come from the code again
	$(BIN)/python -m bot.settings
	$(BIN)/python -m tools.reference
	$(BIN)/python -m bot.command_reference

COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock" $(UPGRADE)

lock: .venv/.dev ## Write the hashed requirements again; with UPGRADE=--upgrade, newer versions
	$(COMPILE) pyproject.toml --group build --output-file requirements/run.txt
	$(COMPILE) pyproject.toml --group dev --constraints requirements/run.txt --output-file requirements/dev.txt
	echo uv | $(COMPILE) --output-file requirements/uv.txt -

clean: ## Remove .venv and what tools left; data in .muninn stays
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache bench/out

.venv/.run: requirements/run.txt requirements/uv.txt pyproject.toml
	@requirements/install run

.venv/.dev: requirements/dev.txt requirements/uv.txt pyproject.toml
	@requirements/install dev
