# make help lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
CLIENT := clients/python
# The version of every Python package, so that the tests of a commit install the same ones. `make CONSTRAINTS= ...` installs the
# newest, in an environment of its own. pip and uv read these variables; *_BUILD_CONSTRAINT are for isolated builds.
# With torch come 4 GB for CUDA, because a registry has no other build: all but triton is linked, and none of it can be left out.
CONSTRAINTS ?= $(CLIENT)/constraints.txt
VENV := $(if $(CONSTRAINTS),.venv,.venv-newest)
PY := $(VENV)/bin/python
export PIP_CONSTRAINT := $(abspath $(CONSTRAINTS))
export PIP_BUILD_CONSTRAINT := $(PIP_CONSTRAINT)
export UV_CONSTRAINT := $(PIP_CONSTRAINT)
export UV_BUILD_CONSTRAINT := $(PIP_CONSTRAINT)
export UV_HTTP_RETRIES ?= 10
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The order of sets of strings is the same in every run of the tests.
export PYTHONHASHSEED ?= 0
# uv compiles no Python: without this, every process would compile torch again.
unexport PYTHONDONTWRITEBYTECODE
STATICCHECK := bin/staticcheck-v0.8.2/staticcheck
ACTIONLINT := bin/actionlint-v1.7.12/actionlint
CLIENT_SOURCES := $(shell find $(CLIENT)/src api/dashboard api/openapi $(CLIENT)/pyproject.toml $(CLIENT)/hatch_build.py -type f) $(shell find . \( -name '*.go' -o -name '*.s' \) -not -name '*_test.go' -not -path './.venv*')

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

$(VENV)/made: $(CLIENT)/requirements-build.txt $(CONSTRAINTS)
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet -r $<
	touch $@

# The client as a user gets it: installed with pip, the Go binary in it.
$(VENV)/client: $(VENV)/made $(CLIENT_SOURCES)
	$(PY) -m pip install --quiet ./$(CLIENT)
	touch $@

# uv takes a quarter of the time of pip for these, and links what it has installed before.
UV_INSTALL = $(VENV)/bin/uv pip install --quiet --python $(PY)
HINT = { echo 'hint: after a change of requirements run "make constraints"' >&2; exit 1; }

$(VENV)/%-tools: $(CLIENT)/requirements-%.txt $(VENV)/made
	$(UV_INSTALL) -r $< || $(HINT)
	touch $@

# The packages that test-wheels installs; pip uses no index there.
$(VENV)/wheelhouse: $(VENV)/made
	rm -rf $@ $@-part
	$(PY) -m pip download --quiet --dest $@-part numpy hatchling
	mv $@-part $@ && touch $@

# Installs a Go tool; the name of its directory ends with its version.
GO_INSTALL = GOBIN=$(CURDIR)/$(@D) go install $(1)@$(lastword $(subst -, ,$(@D)))

$(STATICCHECK):
	$(call GO_INSTALL,honnef.co/go/tools/cmd/staticcheck)

$(ACTIONLINT):
	$(call GO_INSTALL,github.com/rhysd/actionlint/cmd/actionlint)

.PHONY: fetch
fetch: $(STATICCHECK) $(ACTIONLINT) $(VENV)/client $(VENV)/wheelhouse $(addprefix $(VENV)/,$(addsuffix -tools,test adapters browser release remote scale)) ## download all that CI's tests need; they then run without a network
	go mod download
	cd internal/release && go mod download
	folder=$$(mktemp -d); trap 'rm -r "$$folder"' EXIT; \
	git archive "$$($(PY) internal/release/release.py previous | cut -d ' ' -f 2)" go.mod go.sum | tar -x -C "$$folder"; \
	cd "$$folder" && go mod download # test-wheels builds the newest release

# For each Python that the tests run with, on Linux and on macOS. uv keeps the versions that the files already have.
UPGRADE =
COMPILE = env -u UV_CONSTRAINT $(CURDIR)/$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --no-annotate \
  --custom-compile-command 'make constraints' $(UPGRADE)

.PHONY: constraints
constraints: $(VENV)/made ## add new requirements to the constraints of pip; UPGRADE=--upgrade: the newest of all
	cd $(CLIENT); $(COMPILE) -o constraints.txt --all-extras pyproject.toml ../../bench/requirements-*.txt \
	  $$(ls requirements-*.txt | grep -v peers)
	cd $(CLIENT); $(COMPILE) -o constraints-peers.txt $(addprefix requirements-,build.txt test.txt peers.txt)

.PHONY: build
build: ## build bin/tensorcache
	CGO_ENABLED=0 go build -trimpath -o bin/tensorcache ./cmd/tensorcache

# With the race detector, and able to fail on purpose.
.PHONY: build-race
build-race:
	go build -race -tags faults -o bin/tensorcache-race ./cmd/tensorcache

.PHONY: demo
demo: $(VENV)/client ## train a forecasting model on real data that the daemon serves
	$(PY) examples/nlinear_numpy.py
	@echo; echo "see its windows in a browser: $(VENV)/bin/tensorcache ui etth1"
	@echo "the daemon still runs. $(VENV)/bin/tensorcache doctor names its cache; $(VENV)/bin/tensorcache stop stops it"

# All of these run, even if one fails. EXTRA_PARTS are further targets.
.PHONY: test
test: ## run all tests and linters
	+$(PYTHON) internal/ci/parts.py lint-go lint-python lint-workflows test-go test-sequential test-memory test-python test-portable $(EXTRA_PARTS)


# For each: one wheel, one binary. clients/python/hatch_build.py has their tags.
TARGETS := linux-amd64 linux-arm64 darwin-arm64 darwin-amd64

# The same commit gives the same bytes, wherever and whenever this runs.
.PHONY: wheels
wheels: $(VENV)/release-tools ## dist/: wheels for Linux and macOS, and the source package
	rm -rf dist && mkdir dist # two builds at once both would make it
	export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct); cd $(CLIENT); \
	printf '%s\n' $(TARGETS) | xargs -P 2 -I {} env TENSORCACHE_TARGET={} \
	  $(abspath $(PY)) -m hatchling build -t wheel -d $(CURDIR)/dist; \
	$(abspath $(PY)) -m hatchling build -t sdist -d $(CURDIR)/dist
	$(PY) -m twine check --strict dist/*
	$(PY) -m check_wheel_contents dist/*.whl

.PHONY: release
release: $(VENV)/release-tools ## dist/: all files of release VERSION=x.y.z; docs/releases.md says how one is made
	$(PY) internal/release/release.py check "$(VERSION)"
	$(MAKE) wheels
	$(PY) internal/release/release.py pack "$(VERSION)" $(TARGETS)

.PHONY: lint
lint: lint-go lint-python lint-workflows ## run the linters

.PHONY: lint-workflows
lint-workflows: $(ACTIONLINT) ## actionlint
	$(ACTIONLINT)

# -trimpath leaves the folder's name out, so that another clone, or a wheel for macOS, takes what the cache has.
.PHONY: lint-go
lint-go: export GOFLAGS := $(GOFLAGS) -trimpath
lint-go: $(STATICCHECK) ## gofmt, vet (Linux and macOS), staticcheck
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo 'not gofmt-ed:'; gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...
	go vet -tags faults ./...
	GOOS=darwin CGO_ENABLED=0 go vet ./...
	$(STATICCHECK) ./...
	cd internal/release && go vet ./... && ../../$(STATICCHECK) ./...

.PHONY: lint-python
lint-python: $(VENV)/test-tools ## ruff, mypy strict
	cd $(CLIENT) && ../../$(VENV)/bin/ruff check . ../../examples ../../bench ../../docs ../../internal/ci ../../internal/release && ../../$(VENV)/bin/ruff format --check . ../../examples ../../bench ../../docs ../../internal/ci ../../internal/release
	cd $(CLIENT) && ../../$(VENV)/bin/mypy

# TESTS selects the tests of a target, as go test and pytest take them: make test-go TESTS='-run Limits ./api',
# make test-python TESTS=tests/test_put.py. The go command caches results without regard to TENSORCACHE_SEED.
# go test would vet too; lint-go does.
GO_TEST = go test -vet=off $(if $(TENSORCACHE_SEED),-count=1) $(GO_TEST_FLAGS)

# go test starts these packages first, because they take the longest. It runs three at a time, because many tests wait.
LONGEST = ./internal/ingest/load ./cmd/tensorcache ./api ./clients/go
# These packages start no goroutines, so the race detector finds nothing in them. arithmetic_test.go checks that.
SEQUENTIAL = ./sampler ./window

# -timeout ends a test that hangs, and not one on a slow machine.
.PHONY: test-go
test-go: ## Go tests, with the race detector and planted faults
	$(GO_TEST) -timeout 30m -p 3 -race -tags faults $(or $(TESTS),$(LONGEST) $$(go list ./... | grep -vxF "$$(go list $(SEQUENTIAL))"))

.PHONY: test-sequential
test-sequential: ## Go tests of packages without goroutines, without the race detector
	$(GO_TEST) $(or $(TESTS),$(SEQUENTIAL))

# TEST is what TESTS of test-go or test-python would be.
TIMES ?= 20
.PHONY: stress
stress: ## run TEST 20 times beside four busy loops: TEST=tests/test_put.py, TEST='-run Limits ./api'
	$(PYTHON) internal/ci/stress.py $(TIMES) $(TEST)

.PHONY: test-memory
test-memory: ## Go tests of the memory of loads, which the race detector would change
	CGO_ENABLED=0 $(GO_TEST) $(or $(TESTS),./internal/ingest -run Memory)

# The tests run what pip installed; the daemon is the one with the race detector, but where memory is measured.
PYTEST_FLAGS = -q --durations=15 --durations-min=1 --continue-on-collection-errors
# Files run in parallel, because each starts a daemon of its own; the tests of one file run one after the other.
PARALLEL ?= 2
BY_FILE = -n $(PARALLEL) --dist loadfile
PYTEST = cd $(CLIENT) && TENSORCACHE_BIN=$(CURDIR)/bin/tensorcache-race $(CURDIR)/$(PY) -m pytest $(PYTEST_FLAGS)

.PHONY: test-python
test-python: build-race $(VENV)/client $(VENV)/test-tools ## client tests against a real daemon
	$(PYTEST) $(BY_FILE) $(or $(TESTS),tests)

.PHONY: test-portable
test-portable: build-race $(VENV)/client $(VENV)/test-tools ## those with the mark "portable", over the paths that macOS takes
	export TENSORCACHE_PORTABLE=1 TENSORCACHE_CASES=400; $(PYTEST) $(BY_FILE) $(or $(TESTS),tests -m portable)

.PHONY: test-adapters
test-adapters: build-race $(VENV)/client $(VENV)/test-tools $(VENV)/adapters-tools ## the adapters, with torch and Lightning themselves
	$(PYTEST) $(BY_FILE) $(or $(TESTS),tests_adapters --ignore tests_adapters/test_jax.py)

.PHONY: test-jax
test-jax: build-race $(VENV)/client $(VENV)/test-tools $(VENV)/adapters-tools ## the adapter for JAX, in a process of its own, because JAX does not support fork
	$(PYTEST) $(or $(TESTS),tests_adapters/test_jax.py)

.PHONY: test-adapters-all
test-adapters-all: test-adapters test-jax test-frameworks ## and with Accelerate, Transformers and Keras

.PHONY: test-frameworks
test-frameworks: build-race $(VENV)/client $(VENV)/test-tools $(VENV)/adapters-tools $(VENV)/frameworks-tools ## the adapters for Accelerate, Transformers and Keras
	$(PYTEST) $(or $(TESTS),tests_frameworks)

.PHONY: test-wheels
test-wheels: $(VENV)/test-tools $(VENV)/release-tools $(VENV)/wheelhouse ## a release of two of the four targets, and what it makes as users install it
	cd $(CLIENT) && $(CURDIR)/$(PY) -m pytest $(PYTEST_FLAGS) $(or $(TESTS),tests_wheels)

.PHONY: test-release
test-release: export TENSORCACHE_TEST_TARGETS := $(TARGETS)
test-release: test-wheels ## test-wheels with all four targets

.PHONY: test-remote
test-remote: build-race $(VENV)/client $(VENV)/test-tools $(VENV)/remote-tools ## loads of remote files, from moto's S3 server and a web server
	$(PYTEST) $(BY_FILE) $(or $(TESTS),tests_remote)

# The clusters are processes of this machine. Spark needs Java 17 or newer.
.PHONY: test-scale
test-scale: build-race $(VENV)/client $(VENV)/test-tools $(VENV)/adapters-tools $(VENV)/remote-tools $(VENV)/scale-tools ## jobs on Ray and Spark clusters
	$(PYTEST) $(BY_FILE) $(or $(TESTS),tests_scale)

# What would take test-scale over its time. docs/clusters/README.md has the date of its last run.
.PHONY: soak-scale
soak-scale: build-race $(VENV)/client $(VENV)/test-tools $(VENV)/adapters-tools $(VENV)/remote-tools $(VENV)/scale-tools ## longer jobs on Ray and Spark clusters
	$(PYTEST) $(BY_FILE) $(or $(TESTS),tests_scale/soak_*.py)

# CHROMIUM names another one than the first of chromium and chromium-browser that is found; FIREFOX,
# another one than firefox-esr or firefox.
.PHONY: test-browser
test-browser: build-race $(VENV)/client $(VENV)/test-tools $(VENV)/browser-tools ## the dashboard in a real Chromium and Firefox
	$(PYTEST) $(BY_FILE) $(or $(TESTS),tests_browser)

.PHONY: pictures
pictures: $(VENV)/client $(VENV)/browser-tools ## take the pictures of the dashboard in docs/img again
	$(PY) docs/img/take.py

# Long runs, before a promise is called kept. SOAK_CASES random cases for each oracle; SOAK_SEED is the seed of all of them;
# FUZZ_TIME for each fuzz target.
SOAK_CASES ?= 100000
ifndef SOAK_SEED
SOAK_SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
endif
FUZZ_TIME ?= 60s

# Estimated from shorter counts, on two cores that nobody else uses: an hour of Go oracles and mutants, a quarter of an hour of
# requests made up in Go, twenty minutes of schemathesis, three to five hours of the client's cases, and FUZZ_TIME for each of twelve fuzz
# targets: five to seven hours. The first failure ends it: a loop ends with its first failing round (-e), and what it goes over is
# found before, or a failure of finding would be an empty loop.
PYTEST_INSTALLED = cd $(CLIENT) && TENSORCACHE_BIN=$(CURDIR)/$(VENV)/bin/tensorcache $(CURDIR)/$(PY) -m pytest -q

.PHONY: soak
soak: soak-cases ## the oracles with 100,000 cases of a new seed, and the fuzz targets
	packages=$$(grep -rl '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); \
	for p in $$packages; do \
	  targets=$$(grep -hoE '^func Fuzz[A-Za-z0-9]+' $$p/*_test.go | cut -c6-); \
	  for f in $$targets; do \
	    go test $$p -run xxx -fuzz "^$$f\$$" -fuzztime $(FUZZ_TIME); done; done

# What uses rapid or @given is found by search, so that no new test is left out. -count=1: the go command does not see the seed.
.PHONY: soak-cases
soak-cases: export TENSORCACHE_SEED := $(SOAK_SEED)
soak-cases: export PYTHONHASHSEED := $(SOAK_SEED)
soak-cases: build-race $(VENV)/client $(VENV)/test-tools $(VENV)/browser-tools $(VENV)/remote-tools
	@echo "all draws of this run: make soak SOAK_SEED=$(SOAK_SEED)"
	for p in ./window ./sampler; do go test $$p -count=1 -timeout 60m -rapid.checks=$(SOAK_CASES); done
	packages=$$(grep -rlE '^\s"pgregory.net/rapid"' --include='*_test.go' . | xargs -n1 dirname | sort -u | grep -vxE './(window|sampler)'); \
	for p in $$packages; do go test $$p -count=1 -timeout 120m -rapid.checks=2000; done
	go test ./store ./internal/numerals -count=1 -run 'MemoryStays|DecimalsEqual'
	TENSORCACHE_MUTANTS=10000 go test ./internal/ingest/load -count=1 -timeout 60m -run Mutants
	export TENSORCACHE_HTTP_CASES=1000; $(PYTEST_INSTALLED) tests/test_http_contract.py
	TENSORCACHE_HTTP_REQUESTS=1000000 go test ./api -count=1 -timeout 120m -run MadeUp
	go test ./api -run xxx -fuzz '^FuzzTheControlAPI$$' -fuzztime 1000000x -fuzzminimizetime 1x
	export TENSORCACHE_MUTANTS=10000; $(PYTEST_INSTALLED) tests/test_mutants.py
	export TENSORCACHE_CASES=$(SOAK_CASES); $(PYTEST_INSTALLED) $$(grep -l '^@given' tests/test_*.py tests_remote/test_*.py)
	$(PYTEST_INSTALLED) tests_remote/test_loads.py -k random
	export TENSORCACHE_SOAK=1; $(PYTEST_INSTALLED) tests/test_html.py -k large_page
	export TENSORCACHE_SOAK=1; $(PYTEST) tests_browser/test_generated.py
	export TENSORCACHE_PORTABLE=1; $(PYTEST) tests --ignore tests/test_ci_parts.py --ignore tests/test_fixed_draws.py

.PHONY: bench
bench: $(VENV)/client ## delivery beside DataLoaders, an expert's recipes and the machine's limit; about six minutes and 3 GB of files
	$(UV_INSTALL) -r bench/requirements-delivery.txt
	$(PY) bench/delivery.py $(BENCH)

.PHONY: bench-go
bench-go: ## gathers, indexes and orders, with ratios
	go test -run xxx -bench . ./bench ./internal/feed ./api

.PHONY: bench-control
bench-control: $(VENV)/client ## requests beside a feed, what they take from it, and the start of ls; a minute and a half
	OMP_NUM_THREADS=1 $(PY) bench/control.py

.PHONY: bench-loading
bench-loading: $(VENV)/client ## loads beside pyarrow, Polars, DuckDB and pandas; about ten minutes and 6 GB of files
	$(UV_INSTALL) -r bench/requirements-loading.txt
	$(PY) bench/loading.py

# In an environment of its own, because these libraries need older packages.
.PHONY: test-peers
test-peers: ## windows of GluonTS, sktime, Keras and Darts beside ours, value by value
	$(MAKE) VENV=$(VENV)-peers CONSTRAINTS=$(if $(CONSTRAINTS),$(CLIENT)/constraints-peers.txt) test-peers-here || exit 1

.PHONY: test-peers-here
test-peers-here: $(VENV)/client $(VENV)/test-tools $(VENV)/peers-tools
	$(PYTEST_INSTALLED) $(or $(TESTS),tests_peers)

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist .venv .venv-* $(CLIENT)/dist
