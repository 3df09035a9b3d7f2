#!/bin/sh
# Creates the virtual environment.
#
#   .ci/setup.sh run     what the broker needs
#   .ci/setup.sh demo    that, and what the demonstration needs (Spark and Java, Spark's Kafka connector too)
#   .ci/setup.sh check   the Python packages of all: checks of the code, unit tests
#   .ci/setup.sh test    all that tests and benchmarks need (Java, kcat, jars, MinIO too)
#
# The stamp .complete-<stage> is written last. A run that finds .installing was preceded by one that
# did not end, and starts over with an empty environment: half an environment looks much like a whole one.
set -eu
cd "$(dirname "$0")/.."
stage=${1:?usage: .ci/setup.sh run|demo|check|test}
venv=${VENV:-.venv}

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# A version manager's shim may exist and not run; so candidates are run, not looked for.
find_python() {
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3}; do
        if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

# Networks and name servers fail for a while: what fetches is run up to four times.
again() {
    for pause_s in 5 15 45; do
        "$@" && return
        say "trying again in $pause_s s: $*"
        sleep "$pause_s"
    done
    "$@"
}

debian_install() {
    command -v apt-get >/dev/null || fail "please install: $*"
    [ "$(id -u)" = 0 ] || fail "please run:  sudo apt-get install -y $*"
    say "installing from Debian: $*"
    apt-get install -y -qq "$@" >/dev/null 2>&1 || again fetch_from_debian "$@" ||
        fail "apt-get could not install: $*"
}

fetch_from_debian() {
    apt-get update -qq && apt-get install -y -qq "$@" >/dev/null
}

create_environment() {
    python=$(find_python) || {
        [ -z "${PYTHON:-}" ] || fail "PYTHON=$PYTHON is not a Python 3.11, 3.12, 3.13 or 3.14 that runs"
        debian_install python3 python3-venv
        python=$(find_python) || fail "no Python 3.11, 3.12, 3.13 or 3.14 was found; name one with PYTHON=/path/to/python3"
    }
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        debian_install "python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
    say "creating $venv with $("$python" --version)"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    touch "$venv/.installing"
    again "$venv/bin/python" -m pip install --quiet --disable-pip-version-check uv
    touch "$venv/.has-uv"
}

# pip has a configuration of its own, of indexes and certificates, which uv does not read.
install() {
    UV_SYSTEM_CERTS=1 "$venv/bin/uv" pip install --quiet --compile-bytecode --python "$venv/bin/python" "$@" || {
        say "uv failed; trying pip"
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    }
}

if [ -e "$venv/.installing" ] || [ ! -e "$venv/.has-uv" ] || ! "$venv/bin/python" -c '' 2>/dev/null; then
    create_environment
fi
touch "$venv/.installing"
packages=.
stages=run
components=
case $stage in
    run) say "installing what the broker needs" ;;
    demo)
        say "installing what the demonstration needs (a minute the first time)"
        packages='.[demo]' stages='run demo' components=demo
        ;;
    check)
        say "installing the Python packages of the tests (a minute the first time)"
        packages='.[dev]' stages='run check'
        ;;
    test)
        say "installing what the tests need (some minutes the first time)"
        packages='.[dev]' stages='run demo check test' components=test
        ;;
    *) fail "no such stage: $stage" ;;
esac
if [ -n "$components" ]; then
    # Much of both is waiting for the network. A group of its own: its compilers end with it.
    setsid "$venv/bin/python" -m tests.environment "$components" &
    components=$!
    trap 'kill -- -"$components" 2>/dev/null && wait "$components"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
fi
again install --editable "$packages"
rm "$venv/.installing"
touch "$venv/.complete-run"
[ -z "$components" ] || wait "$components"
trap - EXIT
for done in $stages; do
    touch "$venv/.complete-$done"
done
