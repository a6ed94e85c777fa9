# shellcheck shell=bash
# Run one TAP test longer than in the test suite: build, install into a copy of the PostgreSQL
# installation, and run it as the server's account in a copy of the tests. Sourced by such programs
# in test/. Removes everything at the end.

# shellcheck source=tools/setup.sh
. "$ROOT/tools/setup.sh"

WORK=$(mktemp -d /tmp/emogi-alone.XXXXXX)
LOG=$WORK/log
TREE=$WORK/tree         # a copy of the tests that the server's account can read and write

clean_up() {
    setup_cleanup
    stop_servers_below "$WORK"
    rm -rf "$WORK"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

give_up() { die "$1; the end of its output is above"; }

# Run test/t/NAME.pl with environment settings; returns its exit status.
run_alone() {
    local name=$1
    shift
    chown "$(cluster_user)" "$WORK" 2>/dev/null || true
    install_packages build-essential "postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR" libipc-run-perl
    chown "$(cluster_user)" "$WORK"
    step "Build ($(cuda_note))" build_extension || give_up 'emogi did not build'
    step 'Install into a copy of PostgreSQL' install_privately "$WORK/postgres" || give_up 'emogi could not be installed'
    mkdir "$TREE" "$WORK/t"
    cp -r "$ROOT"/{Makefile,emogi.control,test} "$TREE/"
    chown -R "$(cluster_user)" "$TREE" "$WORK/t"
    as_cluster_user "$TREE" env TMPDIR="$WORK/t" "$@" \
        make -s --no-print-directory PG_CONFIG="$PG_BINDIR/pg_config" NVCC= REGRESS= ISOLATION= \
        PROVE_TESTS="test/t/$name.pl" PROVE_FLAGS=--verbose installcheck </dev/null
}
