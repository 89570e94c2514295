PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-all lint docs benchmarks clean

demo: $(READY)
	$(BIN)/maximand demo

test: $(READY) lint
	$(BIN)/python -m pytest -n 2

test-all: $(READY) lint
	MAXIMAND_TEST_ALL=1 $(BIN)/python -m pytest -n 2

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(READY)
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

benchmarks: $(READY)
	$(BIN)/pip install --quiet -e '.[benchmark]'
	cd benchmarks && for script in chain_crf crammer_singer letters letters_accuracy graphs birkhoff projections label_ranker scaling memory first_use million_tokens robustness felt solver_matrix hidden hidden_chunks tracking seen; do ../$(BIN)/python $$script.py; done

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -e '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
