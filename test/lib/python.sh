# shellcheck shell=bash
# Tests of kind `python` of test/run: the package of python/, installed from its wheel into a new
# virtual environment, against a private server. networkx's own tests are counted in addition to
# those of the package. Sourced, not run.

install_venv() { install_missing python3-venv; }

# Build a wheel from a copy of python/, check that the build does not change the copy, and install
# the wheel with the requirements of its tests.
install_python_package() {
    local folder=$WORK/python pip=$WORK/python/venv/bin/pip
    mkdir "$folder" && cp -r "$ROOT/python" "$folder/source" && install_venv &&
        python3 -m venv "$folder/venv" && (cd "$folder/source" && find . | sort) >"$folder/files" &&
        timeout 300 "$pip" wheel --disable-pip-version-check -q --no-deps -w "$folder/wheels" "$folder/source" &&
        (cd "$folder/source" && find . | sort) | diff "$folder/files" - &&
        timeout 900 "$pip" install --disable-pip-version-check -q -r "$ROOT/python/tests/requirements.txt" "$(echo "$folder"/wheels/emogi-*.whl)[all]" &&
        timeout 300 "$pip" install --disable-pip-version-check -q --no-deps --target "$folder/old-polars" polars==1.2.1
}

start_python_server() {
    local folder=$WORK/python-server
    cluster_folder "$folder" &&
        cluster_create "$folder" "$(cluster_user)" 'fsync = off' 'emogi.max_memory = 512MB' && cluster_start "$folder" &&
        as_cluster_user "$folder" "$PG_BINDIR/psql" -X -q -h "$folder" -d postgres -c 'CREATE EXTENSION emogi'
}

# Run pytest outside the checkout, so that it imports the installed package.
run_pytest() {
    local folder=$WORK/python
    (cd "$folder" && timeout --foreground -k 10 600 env PYTHONDONTWRITEBYTECODE=1 EMOGI_ROOT="$ROOT" EMOGI_FIGURES="$folder/networkx" EMOGI_OLD_POLARS="$folder/old-polars" \
        PGHOST="$WORK/python-server" PGUSER="$(cluster_user)" PGDATABASE=postgres HOME="$folder" \
        "$folder/venv/bin/python" -m pytest -q -p no:cacheprovider -rfE --tb=short "$folder/source/tests")
}

# Count the results in the last line of pytest. Anything but passed, such as an error or a skipped
# test, is a failure.
count_pytest() {
    local out=$1 status=$2 last ok other
    last=$(tail -n 1 "$out")
    ok=$(sed -nE 's/.*\b([0-9]+) passed.*/\1/p' <<<"$last")
    other=$({ grep -oE '[0-9]+ (failed|errors?|skipped|xfailed|xpassed)' <<<"$last" || true; } | awk '{ n += $1 } END { print n + 0 }')
    [ "$status" = 0 ] || [ "$other" != 0 ] || other=1
    [ "$other" = 0 ] || show tail "$out" 60
    add python "${ok:-0}" "$other"
}

run_python() {
    local out=$WORK/python.out status=0 ok bad
    install_or_skip python install_python_package || return 0
    step 'Start a server for Python' start_python_server || { add python 0 1; return 0; }
    run_pytest >"$out" 2>&1 </dev/null || status=$?
    count_pytest "$out" $status
    # failures of these are also counted above
    if [ -s "$WORK/python/networkx" ]; then read -r ok bad <"$WORK/python/networkx" && add "networkx's own tests" "$ok" "$bad" 0; fi
    mkdir -p "$ROOT/log" && cp "$out" "$ROOT/log/" 2>/dev/null || true
    cluster_stop "$WORK/python-server" >/dev/null
}
