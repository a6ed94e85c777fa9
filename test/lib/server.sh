# shellcheck shell=bash
# Common code for kinds of tests that need a server: a folder with a copy of the tests, a server,
# pg_regress. Sourced, not run.

# Create a folder for a kind of tests, with a copy of the tests, TREE, that the server's account can
# read and write. SERVER is the folder for a server. A test without an expected file gets an empty
# one in the copy, so that only this test fails; otherwise pg_regress would stop.
make_room() {
    local test name
    ROOM=$WORK/$1 TREE=$WORK/$1/tree SERVER=$WORK/$1/server
    mkdir "$ROOM" "$TREE" "$ROOM/t" && cp -r "$ROOT"/{Makefile,emogi.control,test,examples} "$TREE/" || return
    for test in "$TREE"/test/sql/*.sql "$TREE"/test/specs/*.spec; do
        name=${test##*/}
        [ ! -e "$test" ] || [ -e "$TREE/test/expected/${name%.*}.out" ] || : >"$TREE/test/expected/${name%.*}.out"
    done
    chown -R "$(cluster_user)" "$ROOM"
}

# Start the server of the folder; arguments are additional lines of its configuration.
start_server() {
    cluster_folder "$SERVER" &&
        cluster_create "$SERVER" "$(cluster_user)" \
            'fsync = off' 'autovacuum = off' 'max_prepared_transactions = 10' "log_line_prefix = '%m [%p] %a '" "$@" &&
        cluster_start "$SERVER"
}

# Run `make installcheck` in the folder, as the server's account; arguments exclude the other kinds.
installcheck() {
    as_cluster_user "$TREE" env PGHOST="$SERVER" PGUSER="$(cluster_user)" PGDATABASE=postgres TMPDIR="$ROOM/t" \
        timeout --foreground -k 10 "$LIMIT" \
        make --no-print-directory PG_CONFIG="$PG_BINDIR/pg_config" NVCC= installcheck "$@"
}

# Show what the server's log reports about crashed processes, if any.
show_crashes() {
    grep -E -A 3 'PANIC|TRAP|was terminated by signal|server process .* exited with' "$SERVER/server.log" >"$ROOM/crashes" || true
    show head "$ROOM/crashes" 40
}

# Copy the tests' output to the place where `make installcheck` would have written it in the
# checkout, and the server's log to log/. Ignores a read-only checkout.
keep() {
    local item
    for item in "$@"; do
        [ ! -e "$TREE/$item" ] || { mkdir -p "$ROOT/$(dirname "$item")" && cp -r "$TREE/$item" "$ROOT/$(dirname "$item")/"; } || true
    done 2>/dev/null
}
keep_log() { mkdir -p "$TREE/log" && cp "$SERVER/server.log" "$TREE/log/${ROOM##*/}.log" && keep log; }

# Remove the output of an earlier run.
forget() { (cd "$ROOT" && rm -rf "$@" 2>/dev/null) || true; }

# Count the results of pg_regress, in the format of version 15 or of 16 and later, and show the
# differences.
run_pg_regress() {
    local kind=$1 out=$ROOM/out status=0 ok bad diffs
    shift
    rm -f "$TREE"/{.,output_iso}/regression.diffs
    installcheck "$@" >"$out" 2>&1 </dev/null || status=$?
    ok=$(count '^(test .* \.\.\. ok |ok [0-9]+ )' "$out")
    bad=$(count '^(test .* \.\.\. (FAILED|failed) |not ok [0-9]+ )' "$out")
    [ $status != 124 ] || echo "  $kind: timed out after $LIMIT s"
    [ $status = 0 ] || [ "$bad" != 0 ] || bad=1
    if [ "$bad" != 0 ] || [ "$ok" = 0 ]; then
        show tail "$out" 30
        for diffs in "$TREE"/{.,output_iso}/regression.diffs; do show head "$diffs" 300; done
        show_crashes
    fi
    keep_log
    add "$kind" "$ok" "$bad"
}

run_regress() {
    forget results regression.diffs regression.out
    make_room regress && step 'Start a server for pg_regress' start_server || { add regress 0 1; return 0; }
    run_pg_regress regress ISOLATION= TAP_TESTS=
    keep results regression.diffs regression.out
}

# Run pg_regress without shared_preload_libraries (PostgreSQL 17 and later). Tests with differences
# pass if all differences are expected; others are printed.
run_trial() {
    local out ok bad
    if [ "$("$PG_BINDIR/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')" -lt 17 ]; then
        add_skipped trial 'emogi must be preloaded before PostgreSQL 17'
        return 0
    fi
    make_room trial && step 'Start a server without emogi' start_server "shared_preload_libraries = ''" \
        "session_preload_libraries = 'emogi'" 'emogi.notice_trial = off' || { add trial 0 1; return 0; }
    out=$ROOM/out
    installcheck ISOLATION= TAP_TESTS= >"$out" 2>&1 </dev/null || true
    ok=$(count '^(not )?ok [0-9]+ ' "$out")
    bad=0
    if [ "$ok" = 0 ] || ! grep -q "^1\.\.$ok\$" "$out"; then
        show tail "$out" 30
        bad=1
    elif [ -e "$TREE/regression.diffs" ] && ! "$ROOT/test/lib/trial_differences" "$TREE/regression.diffs" >"$ROOM/differences"; then
        show head "$ROOM/differences" 100
        bad=$(sed -nE 's/^(\w+): .*/\1/p' "$ROOM/differences" | sort -u | wc -l)
    fi
    show_crashes
    keep_log
    add trial $((ok - bad)) "$bad"
}

run_isolation() {
    forget output_iso
    make_room isolation && step 'Start a server for isolation' start_server || { add isolation 0 1; return 0; }
    run_pg_regress isolation REGRESS= TAP_TESTS=
    keep output_iso
}
