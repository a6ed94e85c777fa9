# shellcheck shell=bash
# What test/run sees to in the sources before it runs anything, and the build with warnings as errors. Sourced by it, never run.

# Count a check: passed if the command succeeds; what it prints is shown.
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

# Succeed if no line matches; print those that do.
nothing_matches() {
    local status=0
    grep -rnE "$@" || status=$?
    [ $status = 1 ]
}

run_checks() {
    local include='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' checks_ok=0 checks_bad=0
    check 'PostgreSQL headers stay out of engine/' nothing_matches "$include(postgres|fmgr|utils/|access/|storage/)" engine
    check 'CUDA headers stay out of src/' nothing_matches "${include}cuda" src
    check 'PG_VERSION_NUM is asked in src/base/compat*.h only' nothing_matches 'PG_VERSION_NUM' --exclude='compat*.h' src
    check 'what repeats sql/functions.dat is not up to date' tools/functions --check
    check 'README.md and docs/ do not agree with their tests, or name what is not there' tools/manual --check
    check 'rooms or files call each other in a circle or against their order, or a name does not tell its room' tools/callgraph --check
    check 'tools/typedefs.list is not that of the sources' tools/typedefs --check
    check 'files that have the version do not agree' packaging/version --check
    check 'META.json is not as PGXN has it' packaging/meta
    add checks $checks_ok $checks_bad
}

# Build with -Werror. Objects of a build without it, or for another PostgreSQL, are made again; COPT goes to gcc only.
build_strictly() {
    local stamp=$ROOT/build/.strict server only=()
    server=$("$PG_BINDIR/pg_config" | grep -E '^(VERSION|CONFIGURE) ') || return
    [ "$server" != "$(cat "$stamp" 2>/dev/null)" ] || only=(-newer "$stamp")
    find "$ROOT/src" "$ROOT/engine" -name '*.o' -not -path '*/verify/*' "${only[@]}" -delete
    build_extension COPT=-Werror && mkdir -p "$ROOT/build" && echo "$server" >"$stamp"
}
