# make run      builds what is missing and starts Nyala at http://127.0.0.1:8080 (DEV=1: with hot reload of the app)
# make build    app, server and played devices: $CARGO_TARGET_DIR/release/nyala and nyala-device-sim
# make package  what a machine without Rust and Node installs: target/package (.deb, tarball, CycloneDX, sums),
#               and its image where podman or docker runs
# make package-test installs that package in a clean Debian, buys, backs up, upgrades (BEFORE=…deb: from that one) and purges. As root
# make firmware a machine's device for Linux: backend/firmware/build/nyala-device (TLS=1: nyala-device-tls)
# make firmware-check its core's tests here, and on the processors of boards where their compilers are installed; then the Linux device is
#               killed ROUNDS (1000) times in runs, and as often in pulses
# make test     every test there is; make test-tools fetches HAProxy, nginx, NATS, promtool, mosquitto and psql for those that need them
#               (Debian; installs nothing, and names what must be installed)
# make simulate more histories of the machine in virtual time, with simulated devices, over MQTT and with several servers: SEEDS (100000)
#               from the seed FIRST (0) on; one of them told: SEED=… (ONLY=every_history_over_the_endpoint or …_of_several_servers:
#               of these alone)
# make phones   each screen of the app on phones of four sizes, with plain and with large letters, and on a laptop, and each of the till
#               and of management at six sizes (`make test`: the two that tell most)
# make migration-locks   how long each new migration holds its locks on tables of ROWS (1000000) rows; more than a second fails
# make fuzz     hostile input for what reads strangers' bytes, and for /openapi.json: SECONDS (600) for each; prints what was found
# make lint     checks formatting, lints, that every reference in comments and pages leads somewhere, licences, unused dependencies and advisories
# make bench    what things cost (QUICK=1: roughly, in a minute and the five and a half of its build; PEERS=1: beside other servers; ARGS="…": one of bench/README.md)
# make loadtest crash cluster   measurements of a whole server, or of three; ARGS="…" goes to the program; crash: ROUNDS=200 DRIVER=mqtt;
#               cluster: PREVIOUS=COMMIT, a rolling upgrade from that release
# make restore-drill   kills and deletes a server in use, restores its backup and compares: ROUNDS (3), SECONDS (10) of load before each kill
# Nothing is fetched that is there already, so all of them work without network once they have run.

SHELL := /bin/sh
.DELETE_ON_ERROR:
.NOTPARALLEL:

TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
NYALA := $(TARGET)/release/nyala
CARGO_FLAGS := --locked
APP_SOURCES := $(shell find frontend/src frontend/public frontend/kasir frontend/index.html frontend/*.json frontend/*.ts -type f 2>/dev/null)
NPM_POSTGRES := backend/libs/embedded-postgres/npm
PEERS_RUST := bench/peers/rust/Cargo.toml
MQTT_CLIENT_RUST := backend/tests/mqtt/rumqttc/Cargo.toml
# What the system has goes first.
export PATH := $(PATH):$(TARGET)/test-tools/bin
# A database is 700 files, and each test makes one and drops it: in memory, where there are 2 GB, which costs half as much as on a disk.
TEST_MEMORY = /dev/shm/nyala-test-$(shell echo "$(TARGET)" | cksum | cut -d' ' -f1)
TEST_DATA = $(if $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 2000000'),$(TEST_MEMORY),$(TARGET)/test-postgres)
TEST_POSTGRES = $(TARGET)/debug/with-postgres --create --default --npm $(NPM_POSTGRES)/node_modules/@embedded-postgres \
	--set fsync=off --set max_connections=300
# Ends a recipe: what was in memory is not kept.
FORGET_MEMORY = status=$$?; rm -rf $(TEST_MEMORY); exit $$status

.PHONY: help build app server package package-test firmware firmware-check run dev postgres toolchain app-packages \
	test test-tools test-build simulate migration-locks test-rust test-clients test-openapi test-app test-e2e phones lint fuzz fuzz-bytes fuzz-openapi bench bench-build loadtest crash restore-drill cluster clean

help:
	@sed -n '/^$$/q; s/^# //p' Makefile

# --- what a fresh machine needs

toolchain:
	@scripts/toolchain

app-packages: toolchain
	@scripts/npm-ci frontend

postgres: toolchain
	@scripts/postgres $(NPM_POSTGRES)

# --- build

build: app server

app: app-packages frontend/dist/index.html

frontend/dist/index.html: $(APP_SOURCES)
	npm --prefix frontend run build

server: toolchain app
	cargo build $(CARGO_FLAGS) --release -p nyala -p nyala-device-sim -p embedded-postgres

package: app toolchain
	@scripts/make-package $(TARGET)

# Builds nothing that is there.
package-test:
	@ls $(TARGET)/package/nyala_*.deb >/dev/null 2>&1 || $(MAKE) --no-print-directory package
	@[ -x $(TARGET)/debug/nyala-device-sim ] || cargo build $(CARGO_FLAGS) -p nyala-device-sim
	@command -v debootstrap >/dev/null || scripts/package debootstrap "the test of the package"
	backend/tests/package/run.py $(TARGET)/package-test $(TARGET)/package/nyala_*.deb $(TARGET)/debug/nyala-device-sim $(BEFORE)

# Its tests are the server's side's, in backend/libs/nyala-mqtt/tests/firmware: cargo builds it for them.
firmware:
	@$(MAKE) --no-print-directory -C backend/firmware

firmware-check:
	@$(MAKE) --no-print-directory -C backend/firmware check cross
	NYALA_FIRMWARE_ROUNDS=$(or $(ROUNDS),1000) cargo test $(CARGO_FLAGS) --workspace --test firmware power_may_go

# --- run

ifdef DEV
run: dev
else
run: build $(if $(DATABASE_URL),,postgres)
	@exec $(NYALA) serve
endif

dev: app-packages $(if $(DATABASE_URL),,postgres)
	cargo build $(CARGO_FLAGS) --workspace --bin nyala --bin nyala-device-sim
	@scripts/dev $(TARGET)/debug/nyala

# --- test

test: test-rust test-clients test-openapi test-app test-e2e
	@scripts/skipped $(TARGET)/test-rust.log $(TARGET)/test-mqtt.log $(TARGET)/test-clients.log

test-tools:
	@scripts/test-tools $(TARGET)/test-tools

# All of them, the programs too, with one set of features, so that nothing is built twice.
test-build: toolchain
	cargo test $(CARGO_FLAGS) --workspace --no-run

# One database server for all of them; each test makes its own database in it. Eight at once, because they wait for processes and
# deadlines much more than they compute; each needs some of the database's connections.
test-rust: export RUST_TEST_THREADS ?= 8
test-rust: test-build postgres
	scripts/kept $(TARGET)/test-rust.log $(TEST_POSTGRES) $(TEST_DATA) sh -c 'NYALA_TEST_DATABASE_URL="host=$$PGHOST port=$$PGPORT user=$$PGUSER" \
		exec cargo test $(CARGO_FLAGS) --workspace'; $(FORGET_MEMORY)

# Unmodified Socket.IO clients, JavaScript's and Python's, against the crate; unmodified MQTT clients as devices of the server; and phones
# behind load balancers, of which those that are installed are tried.
test-clients: test-build postgres
	@python3 -c 'import venv, ensurepip' 2>/dev/null || scripts/package python3-venv "the tests with real clients"
	backend/libs/actix-socketio/tests/clients/run.sh
	scripts/kept $(TARGET)/test-mqtt.log backend/tests/mqtt/run.sh $(TARGET)/debug/nyala
	scripts/kept $(TARGET)/test-clients.log backend/tests/balancer/run.sh $(TARGET)/debug/nyala $(filter-out --default,$(TEST_POSTGRES))

# The server against its own description, /openapi.json: the same requests each time. `make fuzz` makes others.
test-openapi: test-build postgres
	@python3 -c 'import venv, ensurepip' 2>/dev/null || scripts/package python3-venv "the tests of /openapi.json"
	backend/tests/schemathesis/run.sh $(TARGET)/debug/nyala --max-examples 25 --seed 1

test-app: app
	npm --prefix frontend run types:check
	npm --prefix frontend run test
	npm --prefix frontend run budgets

test-e2e: test-build app postgres
	@chromium=$$(scripts/chromium) && NYALA_BIN=$(TARGET)/debug/nyala CHROMIUM_PATH=$$chromium npm --prefix frontend run e2e

phones: test-build app postgres
	@chromium=$$(scripts/chromium) && PHONES=all NYALA_BIN=$(TARGET)/debug/nyala CHROMIUM_PATH=$$chromium npm --prefix frontend run e2e -- $$(cd frontend/e2e && grep -lE 'SIZES|lookAtSizes' *.spec.ts)

lint: app-packages
	@scripts/links
	cargo fmt --all --check
	cargo fmt --manifest-path $(PEERS_RUST) --check
	cargo fmt --manifest-path $(MQTT_CLIENT_RUST) --check
	cargo clippy $(CARGO_FLAGS) --workspace --all-targets --features nyala-bench/criterion -- -D warnings
	for features in --no-default-features "" "--no-default-features --features host"; do \
		cargo clippy $(CARGO_FLAGS) -p actix-socketio $$features -- -D warnings || exit 1; done
	RUSTDOCFLAGS="-D warnings" cargo doc $(CARGO_FLAGS) -p actix-socketio --all-features --no-deps
	for crate in $(PEERS_RUST) $(MQTT_CLIENT_RUST); do \
		CARGO_TARGET_DIR=$(TARGET) cargo clippy $(CARGO_FLAGS) --manifest-path $$crate --all-targets -- -D warnings || exit 1; done
	npm --prefix frontend run lint
	scripts/cargo-tool --or-skip $(TARGET)/tools cargo-machete 0.9.2 --skip-target-dir .
	scripts/cargo-tool --or-skip $(TARGET)/tools cargo-deny 0.20.2 --locked check licenses bans sources
	scripts/advisories $(TARGET)

# --- search

# The code that decides in the server, driven through whole histories. One that ends badly names its seed.
simulate: toolchain
	NYALA_SIM_FIRST=$(or $(FIRST),0) NYALA_SIM_SEEDS=$(or $(SEEDS),100000) $(if $(SEED),NYALA_SIM_SEED=$(SEED)) \
		cargo test $(CARGO_FLAGS) --workspace --test simulation -- --nocapture $(or $(ONLY),every_history)

# What the first finds does not keep the second from searching; either makes the end a failure.
fuzz:
	@failed=0; for part in fuzz-bytes fuzz-openapi; do $(MAKE) --no-print-directory $$part || failed=1; done; exit $$failed

# In packages of their own, so that those of the tests stay as they are. `fuzz/run token 60` is one target alone.
fuzz-bytes: toolchain
	@command -v c++ >/dev/null || scripts/package g++ "libFuzzer"
	@failed=0; for run in backend/libs/actix-socketio/fuzz/run fuzz/run; do $$run $(or $(SECONDS),600) || failed=1; done; exit $$failed

# Requests of /openapi.json that nobody thought of, from a seed that is printed (again: SEED=…).
fuzz-openapi: test-build postgres
	@python3 -c 'import venv, ensurepip' 2>/dev/null || scripts/package python3-venv "the search in /openapi.json"
	backend/tests/schemathesis/run.sh $(TARGET)/debug/nyala --max-time $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED))

# `make test` has the rule: a migration reads no rows of a large table, or names this command in a comment.
migration-locks: test-build postgres
	NYALA_MIGRATION_ROWS=$(or $(ROWS),1000000) $(TEST_POSTGRES) $(TARGET)/test-postgres sh -c \
		'NYALA_TEST_DATABASE_URL="host=$$PGHOST port=$$PGPORT user=$$PGUSER" \
		exec cargo test $(CARGO_FLAGS) --workspace --test api -- --nocapture a_new_migration_holds_its_locks'

# --- measure

override QUICK := $(filter-out 0,$(QUICK))
override PEERS := $(filter-out 0,$(PEERS))

# What steps cost (criterion, beside the figures that bench/criterion.json keeps), then the promised figures (bench/RESULTS.md).
BENCH := NYALA_BIN=$(NYALA) $(TARGET)/release/nyala-bench

ifneq ($(PEERS),)
bench: bench-build
	cargo build $(CARGO_FLAGS) --release -p nyala-loadtest
	CARGO_TARGET_DIR=$(TARGET) cargo build $(CARGO_FLAGS) --release --manifest-path $(PEERS_RUST)
	@scripts/npm-ci bench/peers/node
	$(BENCH) peers $(if $(PAIRS),--pairs $(PAIRS)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SESSIONS),--sessions $(SESSIONS)) $(ARGS)
else ifdef ARGS
bench: bench-build
	$(BENCH) $(ARGS)
else
# Builds the program too. What an earlier run measured is not of this one.
bench: server postgres
	@rm -rf $(TARGET)/criterion
	QUICK=$(QUICK) NYALA_BIN=$(NYALA) cargo bench $(CARGO_FLAGS) -p nyala-bench --features criterion --bench nyala
	$(BENCH) all $(if $(QUICK),--quick)
	@$(BENCH) table --criterion $(TARGET)/criterion $(if $(QUICK),,--keep)
endif

bench-build: server postgres
	cargo build $(CARGO_FLAGS) --release -p nyala-bench

# Without ARGS: a server on an empty database, 1,000 machines, 10,000 sessions.
loadtest: server postgres
	NYALA_BIN=$(NYALA) cargo run $(CARGO_FLAGS) --release -p nyala-loadtest -- $(or $(ARGS),try)

# Kills the server and its database ROUNDS times while customers pay, and audits the ledger after each. With DRIVER=mqtt devices, too.
crash: server postgres
	NYALA_BIN=$(NYALA) cargo run $(CARGO_FLAGS) --release -p nyala-loadtest -- crash $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(DRIVER),--driver $(DRIVER)) $(ARGS)

# Kills the server, its database and the receiver of its backup while customers pay, deletes the data folder, restores to a chosen moment and
# to the latest, and compares both with every answer.
restore-drill: server postgres
	NYALA_BIN=$(NYALA) cargo run $(CARGO_FLAGS) --release -p nyala-loadtest -- restore-drill $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SECONDS),--seconds $(SECONDS)) $(ARGS)

# Three servers behind HAProxy, PostgreSQL with two standbys, NATS: one fault after the other while customers buy, then an audit.
# ARGS: --seconds, --seed, --primary, --no-news, --report (docs/loadtest.md, "Cluster"). With PREVIOUS (a commit or a tag) the servers begin as that
# release, and this version joins them and migrates their database.
cluster: server
ifdef PREVIOUS
	previous=$$(scripts/release-program $(PREVIOUS) $(TARGET)/releases) && \
		PATH=$(TARGET)/release:$$PATH NYALA_BIN=$$previous/nyala cargo run $(CARGO_FLAGS) --release -p nyala-loadtest -- cluster \
		--config-dir $$previous/config --other $(NYALA) --other-config-dir config $(ARGS)
else
	NYALA_BIN=$(NYALA) cargo run $(CARGO_FLAGS) --release -p nyala-loadtest -- cluster $(ARGS)
endif

# Never the data folder.
clean:
	rm -rf frontend/dist frontend/node_modules $(NPM_POSTGRES)/node_modules
	cargo clean
