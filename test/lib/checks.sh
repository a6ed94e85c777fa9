# shellcheck shell=bash
# Static checks of the sources for test/run, and the build with warnings as errors. Sourced, not
# run.

# Count a check: passed if the command succeeds. Its output is shown.
check() {
    local why=$1
    shift
    if (cd "$ROOT" && "$@"); then
        checks_ok=$((checks_ok + 1))
    else
        echo "  check: $why"
        checks_bad=$((checks_bad + 1))
    fi
}

# Succeed if no line matches; print matching lines.
nothing_matches() {
    local status=0
    grep -rnE "$@" || status=$?
    [ $status = 1 ]
}

run_checks() {
    local include='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' checks_ok=0 checks_bad=0
    check 'PostgreSQL headers stay out of engine/' nothing_matches "$include(postgres|fmgr|utils/|access/|storage/)" engine
    check 'CUDA headers stay out of src/' nothing_matches "${include}cuda" src
    check 'PG_VERSION_NUM is used in src/base/compat*.h only' nothing_matches 'PG_VERSION_NUM' --exclude='compat*.h' src
    check 'files generated from sql/functions.dat are not up to date' tools/functions --check
    check 'README.md or docs/ differ from their tests, or refer to missing names' tools/manual --check
    check 'folders or files call each other in a cycle or against their order, or a name lacks the prefix of its folder' tools/callgraph --check
    check 'tools/typedefs.list is not up to date' tools/typedefs --check
    check 'files with the version number disagree' packaging/version --check
    check 'META.json does not follow the PGXN specification' packaging/meta
    add checks $checks_ok $checks_bad
}

# Build with -Werror. Rebuilds objects of a build without it, or for another PostgreSQL. COPT is
# passed to gcc only.
build_strictly() {
    local stamp=$ROOT/build/.strict server only=()
    server=$("$PG_BINDIR/pg_config" | grep -E '^(VERSION|CONFIGURE) ') || return
    [ "$server" != "$(cat "$stamp" 2>/dev/null)" ] || only=(-newer "$stamp")
    find "$ROOT/src" "$ROOT/engine" -name '*.o' -not -path '*/verify/*' "${only[@]}" -delete
    build_extension COPT=-Werror && mkdir -p "$ROOT/build" && echo "$server" >"$stamp"
}
