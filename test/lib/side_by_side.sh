# shellcheck shell=bash
# Kinds of tests side by side: each is a process group of its own, so that it can be ended with all that it started.

declare -A LANES=()     # what runs: names by process group

# Run a function with each argument by itself, side by side. What one printed is shown when it has ended; one that ends before it
# has counted has failed.
side_by_side() {
    local function=$1 name done status
    shift
    [ $# -lt 2 ] || echo "  Side by side: $*"
    for name in "$@"; do
        set -m
        (set +m; began=$SECONDS LOG=$WORK/$name.log; "$function" "$name") >"$WORK/$name.shown" 2>&1 </dev/null &
        set +m
        LANES[$!]=$name
    done
    while [ ${#LANES[@]} -gt 0 ]; do
        status=0
        wait -n -p done "${!LANES[@]}" || status=$?
        name=${LANES[$done]}
        [ $status = 0 ] || add "$name" 0 1 >>"$WORK/$name.shown"
        cat "$WORK/$name.shown"
        unset "LANES[$done]"
    done
}

# End what still runs: with a signal that lets TAP tests stop their servers, and without mercy 10 seconds later.
end_side_by_side() {
    local lane signal
    for signal in TERM KILL; do
        for lane in "${!LANES[@]}"; do kill -$signal -- "-$lane" 2>/dev/null || true; done
        for _ in $(seq 100); do
            any_runs || return 0
            sleep 0.1
        done
    done
}

any_runs() {
    local lane
    for lane in "${!LANES[@]}"; do ! kill -0 -- "-$lane" 2>/dev/null || return 0; done
    return 1
}
