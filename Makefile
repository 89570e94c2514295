PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint benchmarks clean

demo: $(READY)
	$(BIN)/maximand demo

test: $(READY) lint
	$(BIN)/python -m pytest -n 2

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

benchmarks: $(READY)
	$(BIN)/pip install --quiet -e '.[benchmark]'
	cd benchmarks && for script in chain_crf crammer_singer letters letters_accuracy scaling memory first_use; do ../$(BIN)/python $$script.py; done

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -e '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
