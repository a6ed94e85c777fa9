# shellcheck shell=bash
# Tests of kind `tap` of test/run: the files of test/t, several in parallel, and then those that
# must run alone. Sourced, not run.

TAP_JOBS=4              # for two CPUs: tests wait more than they compute

# Print the TAP files that must run alone, one per line, each with its reason.
tap_alone() {
    cat <<'END'
011_cache_stress    asks for so many checks a second, and finds more the more there are
044_huge_pages      empties the system's pool of huge pages, of which other servers take some
054_query_stress    asks for so many checks a second, and for as many races as there can be
045_live_stress     is worth the checks that it makes, and there are more of them the more processors it has
END
}

# Set a variable to a program of a package that is unpacked but not installed, unless the program
# exists; further arguments are packages that it depends on.
find_program() {
    local variable=$1 package=$2 program=$3
    shift 3
    [ ! -x "$program" ] && am_root && apt-cache show "$package" >/dev/null 2>&1 || return 0
    ! step "Get $package, for tests" unpack_peer "$WORK/$package" "$package" "$@" || export "$variable=$WORK/$package$program"
}

# Get other programs that TAP files test against, if available without questions. Tests skip missing
# programs.
install_for_tap() {
    install_peer "postgresql-$PG_MAJOR-pgrouting"
    install_peer "postgresql-$PG_MAJOR-cron"
    find_program EMOGI_PGBOUNCER pgbouncer /usr/sbin/pgbouncer libevent-2.1-7 libc-ares2
    find_program EMOGI_EXPORTER prometheus-postgres-exporter /usr/bin/prometheus-postgres-exporter
    find_program EMOGI_PROMTOOL prometheus /usr/bin/promtool
}

# Print the TAP files that run alone, or those that run in parallel.
tap_files() {
    local file where
    for file in "$ROOT"/test/t/*.pl; do
        where=together
        ! tap_alone | grep "^$(basename "$file" .pl) " >/dev/null || where=alone
        [ $where != "$1" ] || echo "test/t/${file##*/}"
    done
}

# Show the output of a failed TAP file and the end of its log.
show_tap_failures() {
    local out=$1 file
    awk '/^\[.*test\/t\// { file = $2 "\n" } /^(not ok|#)/ && shown++ < 100 { print "    | " file $0; file = "" }' "$out"
    while read -r file; do
        show tail "$TREE/tmp_check/log/regress_log_$file" 60
    done < <(sed -nE '/^Test Summary Report/,$ s!^test/t/([^ ]+)\.pl .*!\1!p' "$out")
    show tail "$out" 20
}

# Build a module that replaces missing software, fake GPUs or the settings of Citus, and install it
# where its test expects it.
build_fake() {
    emogi_make -s "build/fake_$1.so" >&2 && install -m 755 "$ROOT/build/fake_$1.so" "$TREE/test/fake_$1.so"
}

# Run TAP files, a number of them in parallel, and add their counts, as tap or by another name.
run_prove() {
    local room=$1 jobs=$2 files=$3 name=${4:-tap} out status=0 ok bad
    make_room "$room" || { add "$name" 0 1; return 0; }
    out=$ROOM/out
    build_fake cuda || echo '  tap: no false GPUs'
    build_fake citus || echo '  tap: no false Citus'
    installcheck REGRESS= ISOLATION= PROVE_FLAGS="--jobs $jobs --verbose --timer --merge" PROVE_TESTS="$files" >"$out" 2>&1 </dev/null || status=$?
    grep -viE '# skip' "$out" >"$out.counted" || true
    ok=$(count '^ok [0-9]+' "$out.counted")
    bad=$(count '^not ok [0-9]+' "$out.counted")
    [ $status != 124 ] || echo "  $name: timed out after $LIMIT s"
    [ $status = 0 ] || [ "$bad" != 0 ] || bad=1
    grep -iE '(skipped: |# skip)' "$out" | sed 's/^/    skipped: /' || true
    if [ "$bad" != 0 ] || [ "$ok" = 0 ]; then show_tap_failures "$out"; fi
    keep tmp_check/log
    add "$name" "$ok" "$bad"
}

run_tap() {
    forget tmp_check/log
    run_prove tap "$TAP_JOBS" "$(tap_files together | tr '\n' ' ')"
}
run_tap_alone() { run_prove tap_alone 1 "$(tap_files alone | tr '\n' ' ')"; }
