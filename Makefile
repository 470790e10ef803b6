# make run    sets up .venv and opens the app
# make test   sets up .venv, the test tools and a browser, and runs every check and test
# make test-browser  every walk in a browser, some ten minutes of them
# make bench  prints speed, agreement with peers, and how often intervals and tests are right
# make test-ollama  asks the Ollama server at OLLAMA_HOST, else on this machine, the same as the tests ask its double

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

.PHONY: run test test-browser test-ollama check bench clean

run: .venv/run.done
	$(BIN)/streamlit run app.py

test: .venv/test.done
	@sh tests/browser.sh
	$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest -n 2 -m "not browser"
	$(BIN)/python -m pytest -m "browser and not long"

test-browser: .venv/test.done
	@sh tests/browser.sh
	$(BIN)/python -m pytest -m browser

test-ollama: .venv/test.done
	CHUNKSCOPE_LIVE=1 $(BIN)/python -m pytest tests/test_live_ollama.py

check: .venv/test.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/test.done
	$(BIN)/python -m bench.cut
	$(BIN)/python -m bench.embed
	$(BIN)/python -m bench.peps
	$(BIN)/python -m bench.recursive
	$(BIN)/python -m bench.late
	$(BIN)/python -m bench.chroma
	$(BIN)/python -m bench.faults
	$(BIN)/python -m bench.interface
	$(BIN)/python -m bench.coverage

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 is needed; name it with PYTHON=..." >&2; exit 1; }
	"$(PYTHON)" -m venv .venv || { rm -rf .venv; exit 1; }

.venv/run.done: requirements.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/test.done: requirements.txt requirements-libraries.txt requirements-dev.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@ .venv/run.done

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
