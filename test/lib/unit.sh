# shellcheck shell=bash
# Tests of kind `unit` of test/run: the programs of test/unit, which need no server. Sourced, not
# run.

# Run one program of build/unit of a folder; its output is written to WORK/NAME.out. Prints "P F"
# and a message if it failed. The program's last line must be "NAME: P passed, F failed".
run_unit_program() {
    local folder=$1 out=$WORK/$2.out status=0 ok bad
    (cd "$folder" && timeout --foreground "$LIMIT" "build/unit/$2") >"$out" 2>&1 </dev/null || status=$?
    read -r ok bad < <(sed -nE 's/^[^ ]+: ([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$out" | tail -n 1) || true
    if [ -z "${bad:-}" ]; then
        echo "0 1 exited with status $status without a count"
    elif [ "$status" != 0 ] && [ "$bad" = 0 ]; then
        echo "$ok 1 exited with status $status"
    else
        echo "$ok $bad"
    fi
}

# Run the programs of a folder, one per CPU in parallel, and add their counts.
run_unit_programs() {
    local kind=$1 folder=$2 source name ok bad why sum_ok=0 sum_bad=0
    for source in "$ROOT"/test/unit/test_*.c; do
        while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
        name=$(basename "$source" .c)
        run_unit_program "$folder" "$name" >"$WORK/$name.count" &
    done
    wait
    for source in "$ROOT"/test/unit/test_*.c; do
        name=$(basename "$source" .c)
        read -r ok bad why <"$WORK/$name.count"
        printf '    %-44s %d passed, %d failed %s\n' "$name" "$ok" "$bad" "$why"
        [ "$bad" = 0 ] || show tail "$WORK/$name.out" 40
        sum_ok=$((sum_ok + ok)) sum_bad=$((sum_bad + bad))
    done
    add "$kind" $sum_ok $sum_bad
}

run_unit() {
    step 'Build the unit tests' emogi_make -s -j"$(nproc)" unit || { add unit 0 1; return 0; }
    run_unit_programs unit "$ROOT"
}
