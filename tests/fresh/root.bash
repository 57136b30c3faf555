# Minimal Debian roots, from the machine's own apt sources: for tests/fresh/run and tests/packages/run, which source this.

# The machine's own sources for the suite, behind whatever mirror they are; Debian's where this is no Debian.
sources() {
    local suite=$1 here found
    here=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
    found=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
        awk -v here="$here" -v suite="$suite" '
            $2 == here || index($2, here "-") == 1 { sub("^" here, suite, $2); print "deb", $1, $2, "main" }' | sort -u)
    if [[ $(. /etc/os-release && echo "${ID:-}") != debian || -z $found ]]; then
        found="deb http://deb.debian.org/debian $suite main"
    fi
    printf '%s\n' "$found"
}

# How apt gets to its sources here: proxies, certificates, clocks.
apt_options() {
    apt-config dump | grep -E '^Acquire::(https?::|Check-|Max-ValidTime|Allow|Retries|ForceIPv)' || true
}

# minimal_root SUITE VARIANT PACKAGES ARCHIVE: a root with these packages (with commas) as a tar archive, whole or not at all.
# What it takes meanwhile goes into $work, which the caller removes.
minimal_root() {
    local suite=$1 variant=$2 packages=$3 archive=$4
    # apt names its sources once it has lists of them.
    [[ -n $(apt-get indextargets 2>/dev/null) ]] || apt-get update -qq || true
    sources "$suite" >"$work/$suite.list"
    apt_options >"$work/apt.conf"
    mmdebstrap --variant="$variant" --include="$packages" --aptopt="$work/apt.conf" \
        "$suite" "$work/root.tar" "$work/$suite.list"
    mv "$work/root.tar" "$archive"
}
