# Every target sets up what it needs in .venv, so each works on a fresh machine.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
LIGHT := .venv/.light
# Python compiles what it imports, and keeps that; to compile all that is installed takes longer than to install it.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
INSTALL := $(PIP) -e

.PHONY: setup demo browser test check coverage oldest format docs dist bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@echo "installing Beacon and what it is developed with into .venv: some minutes, 2 GB"
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(INSTALL) '.[dev,learn,plots,peers,serve,cluster,tensorboard,docs,pgmpy]'
	touch $(LIGHT) $(READY)

$(LIGHT): pyproject.toml constraints.txt
	@echo "installing Beacon with training and plots into .venv, and compiling its kernels: a minute or two"
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(INSTALL) .
	$(BIN)/beacon compile --quiet > /dev/null & compiling=$$!; $(PIP) 'beacon-mpe[learn,plots]' && wait $$compiling
	touch $(LIGHT)

demo: $(LIGHT)
	$(BIN)/beacon demo

browser:
	@command -v chromium > /dev/null || command -v google-chrome > /dev/null \
	|| (apt-get update && apt-get install -y --no-install-recommends chromium) > /dev/null 2>&1 \
	|| echo "Chromium is not installed and could not be; the tests of pages in a browser will be skipped"

test: setup
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

coverage: setup
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered

# The oldest versions that pyproject.toml allows, without training, plots and other solvers.
oldest:
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python .github/oldest.py > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-oldest/constraints.txt -e . pytest pytest-xdist pytest-benchmark hypothesis pandas
	.venv-oldest/bin/python -m pytest tests/model tests/formats tests/reduce tests/exact tests/engine tests/runner

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

dist: setup
	$(BIN)/python -m build --no-isolation

bench: setup
	$(BIN)/python -m pytest benchmarks -o addopts="" --benchmark-only

clean:
	rm -rf .venv .venv-oldest dist build docs/_build .pytest_cache .mypy_cache .ruff_cache
