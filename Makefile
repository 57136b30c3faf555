# The commands of this repository. `make` alone lists them.

PREFIX ?= /usr/local
TARGET := $(or $(CARGO_TARGET_DIR),target)
LAXITY := $(TARGET)/release/laxity

# Where rustup puts cargo, should the shell not know yet.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin
# Evaluated per recipe, so that it sees what `setup` has just installed.
export LIBCLANG_PATH = $(shell scripts/libclang)

.PHONY: help demo test build bless fuzz vm-test vm-matrix grid install clean

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
		|| sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1: \2/p' $(MAKEFILE_LIST)

demo: ## Install what is missing, build, run the main job here for about a minute; says where the report is
	@scripts/setup build
	cargo build --release --locked
	@scripts/demo

test: ## Install what is missing and check everything: format, lints, tests, documentation, Python
	@scripts/setup test
	@scripts/check

build: ## Install what is missing and build target/release/laxity
	@scripts/setup build
	cargo build --release --locked

bless: ## Rewrite goldens and schemas after a deliberate change
	@scripts/bless

fuzz: ## Fuzz every reader for FUZZ_SECONDS (60); needs a nightly compiler and cargo-fuzz
	@scripts/fuzz

vm-test: ## cgroup v2, one core and no cpusets, in a virtual machine without KVM; about a minute, needs root to install QEMU
	@scripts/setup build
	cargo build --release --locked
	@tests/vm/cgroup2

vm-matrix: ## Every fault under the policies, on every kernel and number of CPUs, in virtual machines; about half an hour
	@scripts/setup test
	cargo build --release --locked
	@VM_FULL=1 tests/vm/matrix

grid: ## The experiment of lelli2012 scaled to this machine, into grid-out/; some minutes, needs root
	@scripts/setup build
	cargo build --release --locked
	scripts/grid

# No build here: root, who installs, may have no cargo.
install: ## Copy the built program to PREFIX/bin (/usr/local)
	@test -x $(LAXITY) || { echo 'error: $(LAXITY) is not built; run `make build` first' >&2; exit 2; }
	install -D -m 755 $(LAXITY) $(DESTDIR)$(PREFIX)/bin/laxity

clean: ## Remove what was built and the demo's results
	cargo clean
	rm -rf demo-out

.PHONY: docs
docs: ## Build the guide (docs/) as a site in target/docs; installs its tools once into target/docs-venv
	@scripts/docs
