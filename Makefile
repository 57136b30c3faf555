# The commands of this repository. `make` alone lists them.

PREFIX ?= /usr/local
TARGET := $(or $(CARGO_TARGET_DIR),target)
LAXITY := $(TARGET)/release/laxity

# Where rustup puts cargo, should the shell not know yet.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

.PHONY: help demo test build bless fuzz fresh vm-test vm-matrix grid slurm install clean results

help: ## This list
	@sed -n 's/^\([a-zA-Z%-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
		|| sed -n 's/^\([a-zA-Z%-]*\):.*## \(.*\)/  make \1: \2/p' $(MAKEFILE_LIST)

demo: ## Install what is missing, build, run the main job here for about a minute; says where the report is
	@scripts/setup build
	@scripts/cargo build --release --locked $(BUILD_FLAGS)
	@scripts/demo

test: ## Install what is missing and check everything: format, lints, tests, documentation, Python
	@scripts/setup test
	@scripts/check

build: ## Install what is missing and build target/release/laxity
	@scripts/setup build
	@scripts/cargo build --release --locked $(BUILD_FLAGS)

bless: ## Rewrite goldens and schemas after a deliberate change
	@scripts/bless

fuzz: ## Fuzz every reader for FUZZ_SECONDS (60); needs a nightly compiler and cargo-fuzz
	@scripts/fuzz

fresh: ## README's commands in new, minimal Debian systems, as root and as a user; hours, needs root and the network
	@tests/fresh/run

vm-test: ## cgroup v2, one CPU, no cpusets, and what is deployed, in virtual machines without KVM; some minutes, needs root to install QEMU
	@scripts/setup build
	@scripts/cargo build --release --locked $(BUILD_FLAGS)
	@tests/vm/cgroup2
	@tests/vm/deploy
	@tests/vm/systemd

vm-matrix: ## Every fault under the policies, on every kernel and number of CPUs, in virtual machines; about half an hour
	@scripts/setup test
	@scripts/cargo build --release --locked $(BUILD_FLAGS)
	@VM_FULL=1 tests/vm/matrix

grid: ## The experiment of lelli2012 scaled to this machine, into grid-out/; some minutes, needs root
	@scripts/setup build
	@scripts/cargo build --release --locked $(BUILD_FLAGS)
	scripts/grid

slurm: ## Studies as jobs of a Slurm of this machine alone, against the same on threads; a minute, needs root
	@scripts/setup slurm
	@scripts/cargo build --release --locked $(BUILD_FLAGS)
	@tests/slurm/run

results: ## List results/, how long each takes and what it needs
	@scripts/results

results-%: ## Make results/% again (see `make results`); FORCE=1 replaces what was measured, too
	@scripts/results $*

# No build here: root, who installs, may have no cargo.
install: ## Copy the built program, manual pages, completions and shipped files below PREFIX (/usr/local)
	@test -x $(LAXITY) || { echo 'error: $(LAXITY) is not built; run `make build` first' >&2; exit 2; }
	install -D -m 755 $(if $(shell command -v strip),-s) $(LAXITY) $(DESTDIR)$(PREFIX)/bin/laxity
	scripts/package/stage $(LAXITY) $(DESTDIR)$(PREFIX)

.PHONY: uninstall package-deb package-wheel package-tarball packages

uninstall: ## Remove what `make install` copied
	rm -f $(DESTDIR)$(PREFIX)/bin/laxity
	rm -rf $(DESTDIR)$(PREFIX)/share/laxity
	cd $(DESTDIR)$(PREFIX)/share && rm -f man/man1/laxity.1 man/man1/laxity-*.1 bash-completion/completions/laxity \
		zsh/vendor-completions/_laxity fish/vendor_completions.d/laxity.fish

package-deb: ## target/package/laxity_*.deb, for this machine's distribution
	@scripts/setup package
	@scripts/package/deb

package-wheel: ## target/package/laxity_cli-*.whl for x86-64 and aarch64
	@scripts/setup package
	@scripts/package/wheel

package-tarball: ## target/package/laxity-*.tar.xz for x86-64 and aarch64: the wheels' programs, with all that belongs to them
	@scripts/setup package
	@scripts/package/tarball

packages: package-deb package-tarball ## All packages, tried in minimal Debian roots; needs root
	@tests/packages/run

clean: ## Remove what was built and the demo's results
	@scripts/cargo clean
	rm -rf demo-out

.PHONY: docs
docs: ## Build the guide (docs/) as a site in target/docs; installs its tools once into target/docs-venv
	@scripts/docs
