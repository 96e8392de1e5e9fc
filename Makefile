# Two commands matter: `make demo` shows Garuda at work, `make check` tests it.
# Both install what they need on Debian; everywhere else they say what is missing.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:

GO ?= go
TOOLS := $(CURDIR)/.tools/bin
GOLANGCI_VERSION := 2.15.0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
BUILD_FLAGS := -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$(VERSION)"
PLATFORMS ?= darwin/arm64 windows/amd64
# Built in the long tier: it differs from the other Macs only in the processor.
MORE_PLATFORMS := darwin/amd64

# Sizes of `make check-deep`. Fuzzing is counted in runs, not seconds: at the end
# of a time Go 1.26 sometimes reports its own deadline as a failure. .ci/run takes smaller ones; docs/performance.md
# says which sizes were last run by hand, and with what result.
FUZZ_RUNS ?= 1000000x
# Of the packages with fuzz targets every so many-th is taken.
FUZZ_SHARE ?= 1
DIFF_SCRIPTS ?= 20000
TRACED_SCRIPTS ?= 20000
KILLS ?= 200
SWAPS ?= 10000
IGNORE_ROUNDS ?= 400
WALK_ENTRIES ?= 200000
WALK_LEVELS ?= 10000
ORACLE_CHECKS ?= 2000
# Of the mutants every so many-th is tried.
MUTANTS ?= 1
# Empty leaves the contract of executors to the quick tier, which tries it in short.
CONTRACT ?= whole
comma := ,
SEQUENCES ?= 10000
# Where the test counts of this run are added up; empty keeps none.
COUNTS ?=
TESTRUN = $(GO) run ./scripts/testrun $(if $(COUNTS),-counts $(COUNTS))

# The release binary and everything but the race detector are built without cgo.
export CGO_ENABLED := 0

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## build, then watch a scripted model fix a failing test (no key, no network)
	bin/garuda demo

.PHONY: build
build: ## build bin/garuda, one static stripped binary
	$(GO) build $(BUILD_FLAGS) -o bin/garuda ./cmd/garuda

.PHONY: check
check: setup fmt-check vet lint test cross ## the quick tier: formatting, vet, lint, all tests with -race, other systems' builds

.PHONY: check-deep
check-deep: setup fuzz deep-tests mutants oracle foreign cross-more ## the long tier: FUZZ_RUNS of each fuzz target, DIFF_SCRIPTS generated shell scripts, KILLS kills, the judges of the wire formats

.PHONY: setup
setup: $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
	@scripts/install-packages

# A linter of another version reports other things, so it is pinned and built here.
$(TOOLS)/golangci-lint-$(GOLANGCI_VERSION):
	GOBIN=$(TOOLS) $(GO) install -trimpath github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(GOLANGCI_VERSION)
	mv $(TOOLS)/golangci-lint $@

.PHONY: fmt
fmt: ## format the Go files
	gofmt -s -w $$(git ls-files -co --exclude-standard '*.go')

.PHONY: fmt-check
fmt-check:
	@bad=$$(gofmt -s -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$bad" ]; then printf 'not formatted (make fmt):\n%s\n' "$$bad"; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: lint
lint: $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
	$< run ./...

.PHONY: test
test: ## all tests, with the race detector where a C compiler is there
	@if echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1; \
	then CGO_ENABLED=1 $(TESTRUN) -race ./...; \
	else echo 'no C compiler: the tests run without the race detector'; $(TESTRUN) ./...; fi

.PHONY: cross
cross: ## build and vet for the other systems
	@for p in $(PLATFORMS); do \
	  echo "build and vet for $$p"; \
	  GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build ./...; \
	  GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet ./...; \
	done

.PHONY: cross-more
cross-more: ## the same for the systems that differ least
	@$(MAKE) cross PLATFORMS="$(MORE_PLATFORMS)"

.PHONY: fuzz
fuzz: ## run the fuzz targets of every FUZZ_SHARE-th package FUZZ_RUNS times
	$(TESTRUN) -fuzz $(FUZZ_RUNS) -share $(FUZZ_SHARE)

.PHONY: deep-tests
deep-tests: ## run the tests that take a sample size at those sizes
	GARUDA_DIFF_SCRIPTS=$(DIFF_SCRIPTS) GARUDA_TRACED_SCRIPTS=$(TRACED_SCRIPTS) GARUDA_KILLS=$(KILLS) GARUDA_SWAPS=$(SWAPS) GARUDA_CONTRACT=$(CONTRACT) \
	  GARUDA_WORK=1 GARUDA_SEQUENCES=$(SEQUENCES) GARUDA_IGNORE_ROUNDS=$(IGNORE_ROUNDS) GARUDA_WALK_ENTRIES=$(WALK_ENTRIES) GARUDA_WALK_LEVELS=$(WALK_LEVELS) \
	  $(TESTRUN) -sized $(if $(CONTRACT),executortest$(comma))GARUDA_WORK,GARUDA_SEQUENCES,GARUDA_DIFF_SCRIPTS,GARUDA_TRACED_SCRIPTS,GARUDA_KILLS,GARUDA_SWAPS,GARUDA_IGNORE_ROUNDS,GARUDA_WALK_ENTRIES,GARUDA_WALK_LEVELS -count=1 -timeout 60m

# Nothing of the SDKs needs to be fast, and optimising their 300,000 lines takes minutes.
SDKS := github.com/anthropics/anthropic-sdk-go github.com/openai/openai-go/v3 google.golang.org/genai
ORACLE_FLAGS := $(foreach sdk,$(SDKS),'-gcflags=$(sdk)/...=-N -l')

.PHONY: oracle
oracle: ## hold the wire formats against the providers' SDKs, with ORACLE_CHECKS generated cases a property
	$(GO) build -o $(TOOLS)/testrun ./scripts/testrun
	cd test/oracle && $(GO) vet $(ORACLE_FLAGS) .
	cd test/oracle && $(TOOLS)/testrun $(if $(COUNTS),-counts $(abspath $(COUNTS))) \
	  $(ORACLE_FLAGS) -vet=off -count=1 -timeout 30m . -rapid.checks=$(ORACLE_CHECKS)

FOREIGN := .tools/foreign/node_modules/.package-lock.json

.PHONY: foreign
foreign: setup $(FOREIGN) ## run Garuda against model servers by others (needs npm)
	$(GO) vet -tags foreign ./test/foreign
	$(TESTRUN) -tags foreign -count=1 ./test/foreign

$(FOREIGN): test/foreign/package.json test/foreign/package-lock.json test/foreign/.npmrc
	@mkdir -p .tools/foreign && cp $^ .tools/foreign/
	@if command -v npm >/dev/null; then cd .tools/foreign && npm ci && touch node_modules/.package-lock.json; \
	else echo 'no npm: the tests against other servers are skipped'; fi

.PHONY: mutants
mutants: ## take every MUTANTS-th safety rule away, and hold that its test fails
	$(GO) vet -tags mutants ./test/mutants
	GARUDA_MUTANTS=$(MUTANTS) $(TESTRUN) -tags mutants -count=1 -timeout 60m ./test/mutants

.PHONY: attacks
attacks: ## try every attack against every sandbox of this system, as this user and as an ordinary one
	GARUDA_ATTACKS=all $(TESTRUN) -count=1 -timeout 60m ./internal/attack

.PHONY: bench
bench: ## measure every bar and print the table
	$(GO) run ./test/bench

.PHONY: generate
generate: ## write the generated documents anew
	$(GO) run ./scripts/generate

.PHONY: clean
clean: ## remove what was built
	rm -rf bin .tools
