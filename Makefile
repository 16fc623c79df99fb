# Every target does its own set-up: Go fetches its modules, and the program
# fetches TLC into .tools/ the first time that it needs it. Needed beforehand:
# Go, a Java runtime, and Maven or the TLC jar named by TLA2TOOLS_JAR.
#
# make ends with 2 whenever a command fails. Whoever has to tell a violated
# property (1), no verdict (2) and bad usage (3) apart calls bin/purgelab.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help tools build demo test check spec spec-full traces replay traces-all coverage mutations spec-mutations linearizability agree sweep policies crash-points teeth teeth-reasons minimize matrix bench benchmarks clean

GO          ?= go
BIN         := bin/purgelab
OUT         ?= out
SEEDS       ?= 200
SWEEP       ?= 1..500
POLICIES    ?= 1..1000
REPLAYS     ?= 3050
GROUPS      ?= 300
GUARDS      ?= each
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 18

build: ## bin/purgelab
	@command -v $(GO) >/dev/null || { echo "make: Go is missing: install Go (the version is in go.mod) and put it on PATH" >&2; exit 3; }
	$(GO) build -buildvcs=auto -o $(BIN) ./cmd/purgelab

tools: build ## Java and TLC: found, fetched, or what to install
	@$(BIN) tools

demo: tools ## model-check, torture, judge, validate traces: a verdict table and a page, in two minutes
	$(BIN) demo --out $(OUT)/demo

test: tools ## every Go test, the smoke tier of the specification, the trace samples
	$(GO) test -timeout 18m ./...

check: ## format, vet, staticcheck, import arrows and forbidden constructs
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; [ -z "$$unformatted" ] || { echo "gofmt: not formatted:" >&2; echo "$$unformatted" >&2; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) run ./cmd/lint

spec: tools ## model-check the specification, smoke tier
	$(BIN) spec check --tier smoke

spec-full: tools ## model-check the specification, full tier: a quarter of an hour
	$(BIN) spec check --tier full

traces: build ## traces of two runs of each design, and whether the specification accepts them
	for d in ordered reset-record advance; do $(BIN) trace generate --design $$d --seed 1 --faults all --ops 100 --count 2 --out $(OUT)/traces/$$d; done
	$(BIN) trace validate $(OUT)/traces/*/*.ndjson

replay: tools ## every transition of a model of each design, and REPLAYS drawn behaviours of each, and GROUPS of groups, replayed on the implementation
	for m in ordered transfer advance transfer-advance reset-record reset-record-crashes transfer-reset; do $(BIN) trace behaviours --model sim-$$m --cover --out $(OUT)/replay; done
	for d in ordered transfer advance transfer-advance reset-record transfer-reset; do $(BIN) trace behaviours --model sim-$$d-long --count $(REPLAYS) --out $(OUT)/replay; done
	for d in ordered-group advance-group reset-record-group ordered-group-succession ordered-group-succession-messages ordered-group-rejoin advance-group-succession transfer-group transfer-group-succession transfer-advance-group transfer-reset-group agreed-log agreed-log-replicated agreed-log-persisted; do $(BIN) trace behaviours --model sim-$$d --count $(GROUPS) --steps 60 --out $(OUT)/replay; done
	$(BIN) trace replay $(OUT)/replay/*.ndjson
	$(GO) test ./traces/behaviours -run TestCoversAreShort -states 50000

traces-all: tools ## traces of 2,160 runs of 60 operations, every design, policy and size, half of them compacted: whether all are accepted
	rm -rf $(OUT)/traces-all
	for d in ordered reset-record advance; do for m in replicated persisted; do for b in replicated persisted; do for n in 1 3 5; do for f in network process power; do for c in 0 6; do \
	  $(BIN) trace generate --design $$d --messages $$m --bookmarks $$b --replicas $$n --faults $$f --compact-ops $$c --seed 1 --ops 60 --count 10 --out $(OUT)/traces-all/$$d-$$m-$$b-$$n-$$f-$$c >/dev/null; \
	done; done; done; done; done; done
	$(BIN) trace validate $(OUT)/traces-all/*/*.ndjson

coverage: tools ## what traces show and models take: docs/coverage.md; fails if something is never seen
	$(BIN) trace coverage --out docs/coverage.md

mutations: tools ## 1,000 fields of good traces changed, and events lost and exchanged: docs/mutations.md
	$(GO) test ./traces -timeout 60m -run TestMutations -mutations 1000 -mutations-page ../docs/mutations.md -v
	$(GO) test ./traces -timeout 60m -run TestDefectsAreRejected -defects-page ../docs/traces.md

spec-mutations: tools ## guards of each module of the specification changed until a tie, or else a model, notices one, or with GUARDS=all or GUARDS=Ordered,Advance every one: docs/spec-mutations.md
	$(GO) test ./traces/guards -timeout 12h -run TestGuards -guards $(GUARDS) -guards-kept ../../$(OUT)/spec-mutations -guards-page ../../docs/spec-mutations.md -v

linearizability: ## linearizability tests over SEEDS seeds
	$(GO) test ./linearizability/... -seeds $(SEEDS)

agree: ## the judge of histories, in each of its ways, against a textbook's search, on 100,000 small ones
	$(GO) test ./linearizability/check -run TestAgree$$ -v -timeout 0 -seeds 8400

sweep: build ## fault-injected runs of three replicas over the seeds SWEEP
	$(BIN) sweep --seeds $(SWEEP) --replicas 3 --faults all --clients 4 --ops 300 --out $(OUT)/sweep

policies: build ## every durability policy and size over the seeds POLICIES, logs whole and compacted, all faults on; what was not met fails
	$(BIN) policies --seeds $(POLICIES) --out $(OUT)/policies

crash-points: ## one machine, and an install of a state, broken at every disk call and again in recovery; the cases are counted
	$(GO) test ./linearizability/crashpoints -run TestMatrix -crash-points -v
	$(GO) test ./impl/transfer -run EveryCrashPoint -crashes 1 -every 41 -v
	$(GO) test ./impl/replica -run InstallCrashPoints -every 1 -v -timeout 60m

teeth-reasons: build ## what the judge calls each known bug that clients see, written to docs/judging.md
	$(BIN) teeth --reasons docs/judging.md

teeth: tools ## every known bug switched on, in every layer that has to catch it: the kill matrix
	$(BIN) teeth

minimize: build ## how small the runs get that show the known bugs: docs/minimize.md
	$(BIN) minimize --defects docs/minimize.md

matrix: tools ## the guarantee matrix, by models and by runs: docs/guarantees.md
	$(BIN) matrix --out docs/guarantees.md

benchmarks: ## what a verdict costs, beside porcupine in the same run: docs/benchmarks.md
	$(GO) test ./linearizability/check -run TestFigures -timeout 0 -v -figures ../../docs/benchmarks.md

bench: benchmarks ## speed and memory, of the simulator beside bare consensus, of a replica on real files beside bare writes
	$(GO) test -run '^$$' -bench AgainstBare -cpu 1 -benchtime 3x ./linearizability/run
	$(GO) test -run '^$$' -bench . -benchmem -cpu 1 -benchtime 200ms $$($(GO) list ./impl/... | grep -v /impl/node)
	$(GO) test ./impl/transfer -run '^$$' -bench Transfer -benchtime 1x -transfer-mib 1024
	$(GO) test -run '^$$' -bench Append -benchmem -benchtime 40000x ./impl/node
	$(GO) test -run '^$$' -bench Recovery -benchtime 1x ./impl/node

clean: ## remove what was built and found; keeps .tools
	rm -rf bin $(OUT)
