# shellcheck shell=bash
# Run kinds of tests in parallel. Each is a process group, so that all its processes can be
# terminated.

declare -A LANES=()     # running groups: names by process group

# Run a function with each argument in parallel. Shows the output of each when it ends. A process
# that ends before it has counted its results has failed.
side_by_side() {
    local function=$1 name done status
    shift
    [ $# -lt 2 ] || echo "  In parallel: $*"
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

# Terminate running groups: with a signal that lets TAP tests stop their servers, and with SIGKILL
# 10 seconds later.
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
