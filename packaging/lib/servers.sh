# shellcheck shell=bash
# The kind `servers` of packaging/check: the Debian packages of the versions of PostgreSQL that newer suites of Debian have, built with the same
# rules, each in a root of its suite. Debian 12 has 15; packages of other versions are built where that server's packages are. Sourced by it,
# never run.

SERVERS='17:trixie 18:sid 19:experimental'

# Make a root of a suite with what builds packages for a version. Experimental is sid with a second source.
make_suite_root() {
    local version=$1 suite=$2 root=$3 base=$2 mirror
    [ "$suite" != experimental ] || base=sid
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$') || return
    debootstrap --variant=minbase --include=ca-certificates "$base" "$root" "$mirror" || return
    cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
    rm -f "$root/etc/apt/sources.list"
    printf 'deb %s %s main\n' "$mirror" "$base" >"$root/etc/apt/sources.list.d/debian.list"
    [ "$suite" = "$base" ] || printf 'deb %s %s main\n' "$mirror" "$suite" >>"$root/etc/apt/sources.list.d/debian.list"
    [ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$root/etc/"
    mkdir "$root/src" && cp -a "$WORK/unpacked/emogi-$VERSION" "$root/src/" && enter_root "$root" && in_root "$root" apt-get -q update && in_root "$root" sh -c 'mkdir -p /etc/postgresql-common/createcluster.d &&
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.d/none.conf' &&
        in_root "$root" apt-get -q install -y --no-install-recommends -t "$suite" "postgresql-$version" "postgresql-server-dev-$version" &&
        root_install "$root" build-essential fakeroot postgresql-common && in_root "$root" useradd -m builder &&
        in_root "$root" apt-get -q build-dep -y --no-install-recommends -P nocheck "/src/emogi-$VERSION"
}

# Build the packages of that version: debian/control is written for it, as docs/packages.md says. The three lines of the build ask a server.
build_for_server() {
    local version=$1 root=$2
    in_root "$root" chown -R builder:builder /src &&
        in_root_as "$root" builder env PG_SUPPORTED_VERSIONS="$version" sh -c 'cd "$1" && pg_buildext updatecontrol &&
            DEB_BUILD_OPTIONS="parallel=$(nproc)" dpkg-buildpackage -us -uc -b -d && ls -l ..' sh "/src/emogi-$VERSION"
}
server_was_asked() { grep -A 30 "PostgreSQL $1 psql" "$LOG" | grep -x 'CREATE EXTENSION'; }

# Install the package, and ask a cluster of it.
install_for_server() {
    local version=$1 root=$2
    root_install "$root" "/src/postgresql-$version-emogi_$VERSION-1_$ARCH.deb" && in_root "$root" pg_createcluster "$version" main &&
        in_root "$root" pg_conftool "$version" main set shared_preload_libraries emogi &&
        in_root "$root" pg_conftool "$version" main set emogi.max_memory 128MB &&
        in_root "$root" pg_conftool "$version" main set listen_addresses '' && in_root "$root" pg_ctlcluster "$version" main start &&
        psql_in "$root" -c 'CREATE EXTENSION emogi' -c 'SELECT version()' \
            -c 'CREATE TABLE follows AS SELECT * FROM (VALUES (1, 2), (2, 3), (1, 4)) AS edges (src, dst)' && answers "$root"
}

check_servers() {
    local server version root
    for server in ${SERVERS_WANTED:-$SERVERS}; do
        version=${server%:*} root=$WORK/server-$version
        need "A root of ${server#*:} with PostgreSQL $version" make_suite_root "$version" "${server#*:}" "$root"
        need "Build postgresql-$version-emogi" build_for_server "$version" "$root"
        check 'The build asked a server' server_was_asked "$version"
        check 'Installed, a call is answered' install_for_server "$version" "$root"
        leave_root "$root"
    done
}
