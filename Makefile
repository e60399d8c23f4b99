# `make` alone lists the targets. `make check` is exactly what CI runs.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO          ?= go
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
# Tools are pinned here and outside go.mod, so that users do not inherit them.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCH       ?= .
BENCHTIME   ?= 0.5s

.PHONY: help
help: ## list these targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | \
	  awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

.PHONY: run
run: build ## build weft and run the embedded default scenario
	@bin/weft run

.PHONY: build
build: ## build bin/weft, one static binary
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/weft ./cmd/weft

.PHONY: install
install: ## install weft into Go's bin folder
	CGO_ENABLED=0 $(GO) install -trimpath -ldflags '-s -w -X main.version=$(VERSION)' ./cmd/weft

.PHONY: test
test: ## run every test
	$(GO) test ./...

.PHONY: short
short: ## run the tests that take under a second each
	$(GO) test -short ./...

.PHONY: check
check: fmt-check vet staticcheck tidy-check race fuzz test ## all that CI runs: format, vet, staticcheck, tidy, race, fuzz, tests, docs

.PHONY: fmt
fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

.PHONY: fmt-check
fmt-check:
	@bad=$$(git ls-files -co --exclude-standard '*.go' | xargs -r ls -d 2>/dev/null | xargs -r gofmt -l); \
	  [ -z "$$bad" ] || { echo "not gofmt'ed (make fmt mends it):"; echo "$$bad"; exit 1; }

.PHONY: vet
vet: ## go vet
	$(GO) vet ./...

.PHONY: staticcheck
staticcheck: ## staticcheck, at the pinned version
	$(GO) run $(STATICCHECK) ./...

.PHONY: tidy-check
tidy-check:
	$(GO) mod tidy -diff

.PHONY: race
race: ## the short tests under the race detector (needs a C compiler)
	@command -v "$$($(GO) env CC)" >/dev/null || { echo 'race detector skipped: no C compiler here'; exit 0; }; \
	export CGO_ENABLED=1; \
	$(GO) test -race -short $$($(GO) list ./... | grep -v /cmd/weft$$) && \
	$(GO) test -race -short -run 'Panic|Interrupt' ./cmd/weft # each process of a command test would start slowly

.PHONY: fuzz
fuzz: ## each fuzz target for a few seconds (FUZZTIME=30s for longer)
	@GO='$(GO)' .ci/fuzz

.PHONY: docs
docs: ## run the command blocks of README and docs, and compare their output
	$(GO) test -run 'TestDocs' ./cmd/weft

.PHONY: golden
golden: ## rewrite golden files, generated pages and shown output; read the diff before you commit it
	$(GO) test ./cmd/weft -update

.PHONY: calibrate
calibrate: ## fit the costs of kernels to the measured tables in WEFT_SHARED, each step on the one before; minutes
	$(GO) test ./workloads/collective/nccl -count=1 -run 'TestCalibrate$$' -args -calibrate
	$(GO) test ./workloads/collective/nccl -count=1 -run TestHostResiduals -args -calibrate-host
	$(GO) test ./workloads/collective/nccl -count=1 -run TestCalibrateNet -args -calibrate-net
	$(GO) test ./workloads/collective/kernels -count=1 -run Fit -args -update

.PHONY: bench
bench: ## benchmarks (BENCH=regexp BENCHTIME=2s)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime '$(BENCHTIME)' -benchmem ./...

.PHONY: clean
clean: ## remove what was built
	rm -rf bin
