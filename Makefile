# Targets are short; the work is in .ci/, tests/ and bench/.
VENV ?= .venv
BIN := $(VENV)/bin
DIST ?= dist
ARGS ?=
PYTEST = $(BIN)/python -m pytest -q -n 2
# The tests of a module share what they have started, so they stay in one process. Those of integration wait for others
# more than they compute: three of them keep two processors busy. Spark needs both for itself.
BY_MODULE = $(BIN)/python -m pytest -q --dist loadfile --no-loadscope-reorder
ONE_PROCESS = tests $(addprefix --ignore tests/,integration e2e cluster tidy)
HALF = $(BIN)/python -m pytest -q $(ONE_PROCESS) -m "not slow" --part
unexport PYTHONDONTWRITEBYTECODE
export VENV
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup setup-demo setup-check run test check lint types imports tidy messages fmt unit slow integration e2e seeded soak chaos bench bench-storage bench-wal bench-cluster bench-node demo wheel clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' Makefile

run: $(VENV)/.complete-run ## Start a broker with everything in one process: make run ARGS="--port 9092"
	@$(BIN)/headrace dev $(ARGS)

setup: $(VENV)/.complete-test ## Install the dependencies of tests, demo and benchmarks

setup-demo: $(VENV)/.complete-demo ## Install the dependencies of the demonstration, a part of those

setup-check: $(VENV)/.complete-check ## Install the Python packages of tests, a part of those

test: export TEST_REQUIRE_ALL = 1
test: setup check unit slow integration e2e ## Run every test, with real clients, an S3 server and Spark

# mypy takes as long as all others, and one processor.
check: setup-check ## Run the static checks: style, types, import contracts, tidiness
	@$(MAKE) --no-print-directory types & types=$$!; $(MAKE) --no-print-directory lint imports tidy; others=$$?; \
	wait $$types && exit $$others

lint: setup-check ## Check style and format
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/codespell headrace pyspark_headrace docker broker config metadata pipeline protocol storage wal tests bench docs *.md

types: setup-check ## Check types
	@$(BIN)/mypy

imports: setup-check ## Check the import contracts
	@$(BIN)/lint-imports

tidy: setup-check ## Check sizes, names, docstrings and which modules are pure
	@$(PYTEST) tests/tidy

messages: setup-check ## Make the classes of messages from their tables, or from the jars in a directory: make messages ARGS=DIRECTORY
	@$(BIN)/python -m headrace.protocol.generator $(ARGS)

fmt: setup-check ## Format the code and apply ruff's fixes
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

unit: setup-check ## Run the unit, property and contract tests that are quick
	@$(HALF) 1/2 $(ARGS) & first=$$!; trap "kill $$first" INT; $(HALF) 2/2 $(ARGS); second=$$?; wait $$first && exit $$second

slow: setup ## Run fuzz tests, long random runs, and the contract of buckets on S3 servers
	@$(PYTEST) --dist worksteal $(ONE_PROCESS) -m slow $(ARGS)

integration: setup ## Run the tests with real sockets, files and an S3 server
	@$(BY_MODULE) -n 3 tests/integration $(ARGS)

e2e: setup ## Run end-to-end tests: real clients, crashes, a cluster, Spark
	@$(BY_MODULE) -n 2 tests/e2e $(ARGS)
	@$(BIN)/python -m pytest -q tests/cluster $(ARGS)

seeded: setup ## Seed bugs and check that the tests catch them: make seeded ARGS="--only wal-07"
	@$(BIN)/python -m tests.seeded $(ARGS)

soak: setup ## Run the long tests: simulated crashes, quorums and clusters, seeded bugs, chaos, moves, an hour of work, power cuts: make soak ARGS="--crash-rounds 1000"
	@$(BIN)/python -m tests.simulation.wal_crash_run --images 500000 && $(BIN)/python -m tests.simulation.raft_run --seeds 6000 && $(BIN)/python -m tests.simulation.cluster.swarm --seeds 5000
	@$(BIN)/python -m tests.seeded && $(BIN)/python -m tests.cluster.chaos --minutes 30 && $(BIN)/python -m tests.cluster.moving && $(BIN)/python -m tests.cluster.soak --minutes 60
	@$(BIN)/python -m pytest -q -s -o timeout=0 tests/integration/test_wal_power_cut.py tests/e2e/test_crash.py tests/e2e/test_tables_kills.py --power-cut-rounds 50 --crash-rounds 500 --table-kills 100 --temporary-gib 200 $(ARGS)

chaos: setup ## Take nodes, links, disks and the bucket away from a cluster under load: make chaos ARGS="--minutes 60 --brokers 5"
	@$(BIN)/python -m tests.cluster.chaos $(ARGS)

bench: setup ## Compare with Apache Kafka on this machine
	@$(BIN)/python -m bench $(ARGS)

bench-storage: setup ## Measure requests to the bucket, uploads, compaction, cold reads: make bench-storage ARGS="--only upload"
	@$(BIN)/python -m bench.storage $(ARGS)

bench-wal: setup ## Compare the WAL with fio, on a raw device and a file
	@$(BIN)/python -m bench.wal $(ARGS)

bench-cluster: setup ## Measure lost controllers and brokers, 1,000 topics, three brokers against one: make bench-cluster ARGS="--quick"
	@$(BIN)/python -m bench.cluster $(ARGS)

bench-node: setup ## Measure calls of a request, turns of the loop, tails, starts, memory of one node: make bench-node ARGS="--only turns"
	@$(BIN)/python -m bench.node $(ARGS)

demo: setup-demo ## Real data into an Iceberg table by broker and bucket, with SQL and a chart
	@$(BIN)/python -m headrace.pipeline.demo $(addprefix --connector-jars ,$(wildcard .cache/spark-kafka-*)) $(ARGS)

wheel: setup-check ## Build the wheels of the broker and of the pipeline for Spark in dist/
	@for project in . pyspark_headrace; do (cd $$project && "$(abspath $(BIN))/python" -m hatchling build -t wheel -d "$(abspath $(DIST))") || exit 1; done

clean: ## Remove the environment, caches and build output
	@rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build spark-warehouse

$(VENV)/.complete-%: pyproject.toml .ci/setup.sh
	@.ci/setup.sh $*
