# Everything a person needs: `make run` and `make test` set up all they use, each in .venv, and are quick when
# nothing changed (the stamps in .venv are remade when pyproject.toml is).

# The first Python that is new enough; `make PYTHON=/some/python3.12 run` picks another.
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,\
  $(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))
# torch comes first and alone: as a mere dependency it would be the newest, with gigabytes of CUDA that fit no pin.
TORCH := torch==2.13.0
# Beside the environment, for the tests of quantised models alone: TRL imports it wherever it can, a second each time.
QUANTIZED := $(shell sed -n 's/^quantized = \["\(.*\)"\]$$/\1/p' pyproject.toml)
VENV := .venv
BIN := $(VENV)/bin
INSTALL := DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: run test test-all test-quick lint bench bench-gpu picture shots docs starter chromium sandbox clean

run: $(VENV)/.run
	$(BIN)/groupwise

# Whole files to each of three processes, for two cores: while one waits for a page, a process or a limit, others compute.
# What a file's tests share is made once. In the order of tests/support/lengths.py:
# xdist's own has the files with few tests, which are the long ones, last.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder --durations=20

# What a newcomer waits for: every room, a training, the sandbox and the pages, without the files that take longest.
test: chromium sandbox lint
	$(PYTEST) --without-long

# All of them: what a change must pass (.ci/run).
test-all: chromium sandbox lint
	$(PYTEST)

# For work in between: what takes no browser, no training and no sandbox.
test-quick: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --quick

# mypy does not follow the mapping of an editable install: it is shown the three folders under their installed names.
lint: $(VENV)/.dev
	@mkdir -p $(VENV)/rooms/groupwise
	@for room in app worker storage; do ln -sfn "$(CURDIR)/$$room" $(VENV)/rooms/groupwise/$$room; done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/oxlint app
	$(BIN)/oxfmt --check 'app/**/*.js'
	$(BIN)/mypy

bench: chromium sandbox $(VENV)/.dev
	$(BIN)/python -m bench

# On a machine with an NVIDIA GPU, and no network once .venv is made: OPTIONS="--only 0.5B LoRA" measures less.
bench-gpu: $(VENV)/.run
	$(BIN)/python -m bench.gpu $(OPTIONS)

# The README's picture, made by the browser test.
picture: chromium $(VENV)/.dev
	GROUPWISE_PICTURE=docs/images/run.png $(BIN)/python -m pytest -q tests/browser/test_quickstart_in_browser.py -k newcomer

# Every page in light, dark and on a phone, in shots/, as the browser tests come by.
shots: chromium sandbox $(VENV)/.dev
	GROUPWISE_SHOTS=shots $(BIN)/python -m pytest -q -n 2 --dist loadfile tests/browser

# The help texts in docs/command.md.
docs: $(VENV)/.run
	$(BIN)/python docs/make_command.py

# The starter model, from nothing (a few minutes).
starter: $(VENV)/.run
	$(BIN)/python -m groupwise.worker.builtin.starter.make

$(BIN)/python:
	@test -n "$(PYTHON)" || { \
	  echo "Groupwise needs Python 3.11 or newer, and none was found. Install one (Debian: apt-get install python3"; \
	  echo "python3-venv), or name it: make PYTHON=/path/to/python3.11 run"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

$(VENV)/.run: pyproject.toml setup.py | $(BIN)/python
	$(PIP) install $(TORCH)
	$(PIP) install --editable .
	@touch $@

# At once, not after the other: to find out what fits takes pip ten seconds each time.
$(VENV)/.dev: pyproject.toml setup.py | $(BIN)/python
	$(PIP) install $(TORCH)
	$(PIP) install --editable '.[dev]'
	$(PIP) install --no-deps --upgrade --target $(VENV)/beside "$(QUANTIZED)"
	@touch $(VENV)/.run $@

# The browser tests drive a real Chromium: where Debian's without a window can be had, that, which takes fewer minutes.
chromium:
	@command -v chromium-headless-shell >/dev/null || test "$$(id -u)" != 0 || \
	! apt-cache show chromium-headless-shell >/dev/null 2>&1 || $(INSTALL) chromium-headless-shell </dev/null || true
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get update && { $(INSTALL) chromium chromium-headless-shell || $(INSTALL) chromium; }; } </dev/null; } || \
	{ echo "The browser tests need Chromium, which is not installed. Debian: sudo apt-get install chromium. Elsewhere,"; \
	  echo "install Chromium or Google Chrome so that chromium, chromium-browser or google-chrome is on the PATH."; exit 1; }

# The tests of the sandbox in which people's own reward functions run want a real one, and another machine to speak to.
sandbox:
	@command -v bwrap >/dev/null && command -v ip >/dev/null && ldconfig -p | grep -q libseccomp.so.2 || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get update && $(INSTALL) bubblewrap libseccomp2 iproute2; } </dev/null; } || \
	{ echo "The tests of the sandbox need bubblewrap and iproute2, which are not installed. Debian: sudo apt-get install"; \
	  echo "bubblewrap libseccomp2 iproute2"; exit 1; }

clean:
	rm -rf $(VENV) build dist *.egg-info
