# shellcheck shell=bash
# Counting and reporting of test/run. Kinds of tests run in separate processes, so they append their
# figures to the file FIGURES: a line "passed failed seconds kind" for each part of a kind.

FIGURES=$WORK/figures

# Add the result of a kind of tests, or of a part. No executed tests is a failure, because it means
# that no tests were found. The seconds default to those since the last result of this process.
add() {
    local kind=$1 ok=$2 bad=$3 seconds=${4:-$((SECONDS - ${began:-$SECONDS}))}
    if [ $((ok + bad)) = 0 ]; then
        echo "  $kind: no tests were executed"
        bad=1
    fi
    echo "$ok $bad $seconds $kind" >>"$FIGURES"
    began=$SECONDS
    printf '  %-46s %d passed, %d failed\n' "$kind" "$ok" "$bad"
}

# Record for the final table that a kind, or a part, could not be run here.
add_skipped() {
    echo "  $1: skipped: $2"
    echo "0 0 0 $1 (skipped: $2)" >>"$FIGURES"
}

# Install requirements of some tests. If this fails, the tests are skipped, which is not a failure.
install_or_skip() {
    local what=$1
    shift
    "$@" >>"$LOG" 2>&1 </dev/null || { add_skipped "$what" 'cannot be installed; is a registry reachable?'; return 1; }
}

# Print the cases and seconds of each kind, then the final line; fail if there was a failure. A kind
# may have several parts.
print_figures() {
    touch "$FIGURES"
    awk '
        { ok = $1; bad = $2; s = $3; $1 = $2 = $3 = ""; sub(/^ +/, "") }
        !($0 in passed) { order[++n] = $0 }
        { passed[$0] += ok; failed[$0] += bad; seconds[$0] += s; all_ok += ok; all_bad += bad }
        END {
            printf "\n  %-46s %9s %7s %8s\n", "kind", "passed", "failed", "seconds"
            for (i = 1; i <= n; i++)
                if (order[i] ~ /skipped: /) printf "  %s\n", order[i]
                else printf "  %-46s %9d %7d %8d\n", order[i], passed[order[i]], failed[order[i]], seconds[order[i]]
            printf "%d passed, %d failed\n", all_ok, all_bad
            exit all_bad > 0
        }' "$FIGURES"
}

# Count the lines of a file that match.
count() { grep -cE "$1" "$2" || true; }

# Show the first or last lines of a file, indented.
show() {
    [ ! -s "$2" ] || { echo "    ---- ${2#"$WORK"/}"; "$1" -n "$3" "$2" | sed 's/^/    | /'; }
}
