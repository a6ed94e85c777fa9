# shellcheck shell=bash
# The kind `servers` of packaging/check: the Debian packages of other versions of PostgreSQL than Debian 12 has, built with the same rules, each in a
# root of a suite that has the server. No suite has 16: its server is a package made of the wheel that test/versions uses. Sourced by
# packaging/check, never run.
#
#   SERVERS_WANTED='16:wheel 18:sid' packaging/check servers        some of them

SERVERS='16:wheel 17:trixie 18:sid 19:experimental'

# Make a root of a suite. Experimental is sid with a second source, and a wheel runs on Debian 12.
make_suite_root() {
    local suite=$1 root=$2 base=$1 mirror
    case $suite in
        experimental) base=sid ;;
        wheel) base=bookworm ;;
    esac
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$') || return
    debootstrap --variant=minbase --include=ca-certificates "$base" "$root" "$mirror" || return
    cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
    rm -f "$root/etc/apt/sources.list"
    printf 'deb %s %s main\n' "$mirror" "$base" >"$root/etc/apt/sources.list.d/debian.list"
    if [ "$suite" = experimental ]; then
        printf 'deb %s %s main\n' "$mirror" "$suite" >>"$root/etc/apt/sources.list.d/debian.list"
        # the packages of PostgreSQL, and no others
        printf 'Package: src:postgresql-*\nPin: release a=experimental\nPin-Priority: 990\n' >"$root/etc/apt/preferences.d/experimental"
    fi
    [ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$root/etc/"
    mkdir "$root/src" && cp -a "$WORK/unpacked/emogi-$VERSION" "$root/src/" && enter_root "$root" && in_root "$root" apt-get -q update
}

# Install a server of a version, and what builds packages for it.
install_server() {
    local version=$1 suite=$2 root=$3
    in_root "$root" sh -c 'mkdir -p /etc/postgresql-common/createcluster.d &&
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.d/none.conf' || return
    if [ "$suite" = wheel ]; then
        make_wheel_package "$version" "$root" && root_install "$root" "/src/postgresql-$version.deb"
    else
        root_install "$root" "postgresql-$version" "postgresql-server-dev-$version"
    fi && root_install "$root" build-essential fakeroot postgresql-common && in_root "$root" useradd -m builder &&
        in_root "$root" apt-get -q build-dep -y --no-install-recommends -P nocheck "/src/emogi-$VERSION"
}

# Make a package of a server's wheel, with the files where Debian has those of a server.
make_wheel_package() {
    local version=$1 root=$2 folder=$WORK/wheel-$1.package
    # shellcheck source=test/lib/versions.sh
    (. "$ROOT/test/lib/versions.sh" && get_wheel "$version" "$WORK/wheel-$version") && mkdir -p "$folder/DEBIAN" "$folder/usr/lib/postgresql" &&
        mv "$WORK/wheel-$version" "$folder/usr/lib/postgresql/$version" && chown -R root:root "$folder" && chmod -R a+rX "$folder" || return
    cat >"$folder/DEBIAN/control" <<END
Package: postgresql-$version
Version: $("$folder/usr/lib/postgresql/$version/bin/pg_config" --version | awk '{ print $2 }')-0
Architecture: $ARCH
Maintainer: nobody <nobody@emogi.example>
Provides: postgresql-client-$version, postgresql-server-dev-$version
Depends: postgresql-common, libgssapi-krb5-2, liblz4-1, libreadline8, libssl3, libxml2, libzstd1, tzdata, zlib1g
Description: PostgreSQL $version from its wheel, for packaging/check
END
    # emogi.so is linked beside the wheel's libraries, of which dpkg-shlibdeps asks for the package
    echo "libpq 5 postgresql-$version" >"$folder/DEBIAN/shlibs"
    dpkg-deb --root-owner-group -Zgzip -z1 -b "$folder" "$root/src/postgresql-$version.deb" && rm -rf "$folder"
}

# Build the packages of that version: debian/control is written for it, as docs/packages.md says. The three lines of the build ask a server, if it has
# Debian's setting that names the folder of a package that is not installed.
build_for_server() {
    local version=$1 suite=$2 root=$3 check=
    [ "$suite" != wheel ] || check=nocheck
    in_root "$root" chown -R builder:builder /src &&
        in_root_as "$root" builder env PG_SUPPORTED_VERSIONS="$version" sh -c 'cd "$1" && pg_buildext updatecontrol &&
            DEB_BUILD_OPTIONS="parallel=$(nproc) $2" dpkg-buildpackage -us -uc -b -d && ls -l ..' sh "/src/emogi-$VERSION" "$check"
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
    local server version suite root
    for server in ${SERVERS_WANTED:-$SERVERS}; do
        version=${server%:*} suite=${server#*:} root=$WORK/server-${server%:*}
        need "A root of $suite" make_suite_root "$suite" "$root"
        need "Install PostgreSQL $version and what builds packages" install_server "$version" "$suite" "$root"
        need "Build postgresql-$version-emogi" build_for_server "$version" "$suite" "$root"
        [ "$suite" = wheel ] || check 'The build asked a server' server_was_asked "$version"
        check 'Installed, a call is answered' install_for_server "$version" "$root"
        check 'debian/tests/three-lines' autopkgtest "$root" three-lines
        if [ "${INSTALLCHECK:-yes}" != no ]; then check 'debian/tests/installcheck' autopkgtest "$root" installcheck; fi
        leave_root "$root"
    done
}
