# shellcheck shell=bash
# Tests of kind `sanitize` of test/run: unit tests and pg_regress with builds that use sanitizers.
# Sourced, not run.

ADDRESS='-fsanitize=address,undefined -fno-sanitize-recover=undefined'
THREAD='-fsanitize=thread'

# Run make in a copy of the checkout, with a sanitizer and without link-time optimization.
sanitized_make() {
    local copy=$1 flags=$2
    shift 2
    make -C "$copy" -s --no-print-directory PG_CONFIG="$PG_BINDIR/pg_config" NVCC= with_llvm=no -j"$(nproc)" \
        COPT="$flags -g -fno-omit-frame-pointer" LDFLAGS_SL="$flags" \
        TOOL_CFLAGS="-O1 -g -Wall -Wextra -Wno-unused-parameter -std=gnu11 -Iengine -Ibench -Itest/unit -pthread $flags" "$@"
}

# Copy the checkout to WORK/NAME and build it there with a sanitizer.
sanitized_copy() {
    local name=$1 flags=$2
    shift 2
    copy_checkout "$WORK/$name" && sanitized_make "$WORK/$name" "$flags" "$@"
}

# Run the unit programs of a sanitized copy. A finding of the sanitizer makes a program fail.
run_sanitized_unit() {
    export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
    run_unit_programs "unit, $1" "$WORK/$1"
    unset ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
}

# Install the library of the sanitized copy into a copy of PostgreSQL, and start a server with the
# sanitizer's runtime preloaded. PostgreSQL itself is not instrumented: errors of emogi in its own
# memory, on its stack, and outside of the server's allocations are detected; palloc's memory is not
# monitored.
#
# At startup ASAN looks up an optional symbol with dlsym and then calls dlerror. The message of
# glibc can wait for a library that is being initialized (libgpg-error), which deadlocks. Defining
# the symbol avoids that.
start_sanitized_server() {
    local symbol='char *swift_demangle(const char *a, unsigned long b, char *c, unsigned long *d, unsigned e) { return 0; }'
    copy_postgres "$WORK/sanitized" &&
        sanitized_make "$WORK/address" "$ADDRESS" install &&
        gcc -shared -fPIC -w -x c - -o "$WORK/symbol.so" <<<"$symbol" &&
        chmod a+rx "$WORK/symbol.so" &&
        start_server_with LD_PRELOAD="$(gcc -print-file-name=libasan.so) $WORK/symbol.so"
}

start_server_with() {
    cluster_folder "$SERVER" && mkdir "$WORK/findings" && chown "$(cluster_user)" "$WORK/findings" &&
        cluster_create "$SERVER" "$(cluster_user)" \
            'fsync = off' 'autovacuum = off' 'max_prepared_transactions = 10' "emogi.max_memory = '2GB'" &&
        as_cluster_user "$SERVER" env "$@" \
            ASAN_OPTIONS="detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=0:log_path=$WORK/findings/asan" \
            UBSAN_OPTIONS="print_stacktrace=1:abort_on_error=1:log_path=$WORK/findings/ubsan" \
            "$PG_BINDIR/pg_ctl" -D "$SERVER/data" -l "$SERVER/server.log" -w -t 120 start
}

# Run pg_regress against a server with the sanitized library; each report of a process counts as a
# failure.
run_sanitized_server() {
    local file found=0
    if ! make_room address_server || ! step 'Start a private server under ASAN and UBSAN' start_sanitized_server; then
        show tail "$SERVER/server.log" 30
        add 'regress, address' 0 1
        return 0
    fi
    run_pg_regress 'regress, address' ISOLATION= TAP_TESTS= ${SANITIZE_TESTS:+REGRESS="$SANITIZE_TESTS"}
    for file in "$WORK"/findings/*; do
        [ -s "$file" ] || continue
        show head "$file" 60
        found=$((found + 1))
    done
    [ $found = 0 ] || add 'findings in the server' 0 $found
}

run_sanitize() {
    local part
    for part in ${SANITIZE_PARTS:-unit server threads}; do
        case $part in
            unit | server)
                [ -d "$WORK/address" ] || step 'Build for ASAN and UBSAN' sanitized_copy address "$ADDRESS" all unit ||
                    { add "$part, address" 0 1; continue; }
                ;;
            threads) step 'Build for TSAN' sanitized_copy thread "$THREAD" all unit || { add 'unit, thread' 0 1; continue; } ;;
            *) die "unknown part $part of SANITIZE_PARTS: unit, server or threads" ;;
        esac
        case $part in
            unit) run_sanitized_unit address ;;
            server) run_sanitized_server ;;
            threads) run_sanitized_unit thread ;;
        esac
    done
}
