# shellcheck shell=bash
# The kind `arm64` of packaging/check: the Debian packages for arm64 of some versions of PostgreSQL, cross-built, each in a root of a suite that has
# the server; a server of arm64 that answers with the package, and the engine's unit tests, both under qemu's emulation of a processor. Sourced by
# packaging/check, never run.
#
#   ARM64_WANTED='15:bookworm' packaging/check arm64        some of them
#
# The root that builds has the cross compiler, and of arm64 the libraries, headers and makefiles of the server. The root that runs is unpacked and
# not configured, so that nothing of arm64 is executed but what is tested: programs are started by qemu one by one, and no handler of foreign
# programs (binfmt_misc) is registered in the kernel, which is everybody's.

ARM64_SERVERS='15:bookworm 17:trixie'

# Of the version that is being checked: these are set by check_arm64_server.
ARM_PG=                 # its number
CROSS=                  # the root that builds
EMULATED=               # the root that runs
ARM_DEB=                # the package

# The programs of test/unit that end within a minute under qemu; emulation takes too long for the rest.
EMULATED_UNIT='added_keys algorithms bfs blocked_spmv cc compare contraction coo cycles find_key max_flow parameters peer_assignment pool property_load sha256'

# Unpack packages of arm64 over a root, by apt of the root that builds, without their scripts: further arguments are the paths to take, or all.
unpack_arm64() {
    local root=$1 packages=$2 deb
    shift 2
    mkdir -p "$CROSS/tmp/arm64" || return
    # shellcheck disable=SC2086
    in_root "$CROSS" sh -c 'cd /tmp/arm64 && rm -f *.deb && apt-get -q -o APT::Sandbox::User=root download "$@"' sh $packages || return
    for deb in "$CROSS"/tmp/arm64/*.deb; do
        if [ $# = 0 ]; then dpkg-deb -x "$deb" "$root"; else dpkg-deb --fsys-tarfile "$deb" | tar -xf - -C "$root" --wildcards "$@"; fi || return
    done
}

# A root with the cross compiler, and arm64's headers and makefiles in the place of this machine's: pg_config.h says what the processor has.
make_cross_root() {
    make_suite_root "$1" "$CROSS" && install_server "$ARM_PG" "$1" "$CROSS" &&
        in_root "$CROSS" dpkg --add-architecture arm64 && in_root "$CROSS" apt-get -q update &&
        root_install "$CROSS" crossbuild-essential-arm64 libpq5:arm64 qemu-user-static &&
        unpack_arm64 "$CROSS" "postgresql-server-dev-$ARM_PG:arm64" './usr/include/*' &&
        unpack_arm64 "$CROSS" "postgresql-client-$ARM_PG:arm64" "./usr/lib/postgresql/$ARM_PG/lib/pgxs/src/Makefile.*" &&
        unpack_arm64 "$CROSS" libpq-dev:arm64 './usr/include/*' './usr/lib/aarch64-linux-gnu/*'
}

# The package, with the same rules. Its build cannot ask a server, and does not depend on packages that are no part of the root.
build_arm64() {
    in_root "$CROSS" chown -R builder:builder /src &&
        in_root_as "$CROSS" builder env PG_SUPPORTED_VERSIONS="$ARM_PG" sh -c 'cd "$1" && pg_buildext updatecontrol && DEB_BUILD_OPTIONS="parallel=$(nproc) nocheck" dpkg-buildpackage -us -uc -b -d -aarm64 -Pcross,nocheck' \
            sh "/src/emogi-$VERSION"
}

# The package and its library are of arm64: e_machine of the ELF header is 183.
arm64_package_is() {
    local folder=$WORK/arm64-package
    rm -rf "$folder" && dpkg-deb -x "$CROSS/src/$ARM_DEB" "$folder" && dpkg-deb -f "$CROSS/src/$ARM_DEB" && ls -l "$CROSS/src/$ARM_DEB" &&
        same "$(dpkg-deb -f "$CROSS/src/$ARM_DEB" Architecture)" arm64 &&
        same "$(od -An -t u2 -j 18 -N 2 "$folder/usr/lib/postgresql/$ARM_PG/lib/emogi.so" | tr -d ' ')" 183
}

# The engine's tests of the same source, each under qemu, by the ordinary user.
build_arm64_unit() {
    cp -a "$WORK/unpacked/emogi-$VERSION" "$CROSS/src/unit" && in_root "$CROSS" chown -R builder:builder /src &&
        in_root_as "$CROSS" builder make -C /src/unit -s -j"$(nproc)" NVCC= with_llvm=no CC=aarch64-linux-gnu-gcc \
            PG_CONFIG="/usr/lib/postgresql/$ARM_PG/bin/pg_config" unit &&
        mkdir "$EMULATED/src" && cp -a "$CROSS/src/unit" "$EMULATED/src/"
}
# With the libraries of Debian's arm64: under qemu, threads of those that the cross compiler brings do not start.
run_arm64_unit() {
    timeout -k 5 600 chroot --userspec="$(stat -c %u:%g "$CROSS/src/unit")" "$EMULATED" /usr/bin/qemu-aarch64-static "/src/unit/build/unit/$1" 3>&-
}

# A root with the server of arm64 and all that it needs, unpacked, and the package over it. initdb is this machine's: the files are the same.
make_emulated_root() {
    local packages
    packages=$(in_root "$CROSS" apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
        "postgresql-$ARM_PG:arm64" | grep -E '^(lib[a-z0-9.+-]*|zlib1g):arm64$' | grep -vE '(-perl|-common|-bin|-modules.*|-data):' | sort -u) &&
        mkdir -p "$EMULATED" && unpack_arm64 "$EMULATED" "postgresql-$ARM_PG:arm64 $packages" && dpkg-deb -x "$CROSS/src/$ARM_DEB" "$EMULATED" || return
    # a server asks for its user, its time zones and its locale, and leaves a socket
    mkdir -p "$EMULATED"/{etc,tmp,data,proc,dev/shm,usr/bin,run/postgresql,usr/share} && chmod 1777 "$EMULATED/tmp" "$EMULATED/run/postgresql" &&
        cp "$CROSS/etc/passwd" "$CROSS/etc/group" "$EMULATED/etc/" && root_install "$CROSS" tzdata && cp -a "$CROSS/usr/share/zoneinfo" "$EMULATED/usr/share/" &&
        cp -a "$CROSS/usr/lib/locale" "$EMULATED/usr/lib/" && cp "$CROSS/usr/bin/qemu-aarch64-static" "$EMULATED/usr/bin/" &&
        mkdir -p "$EMULATED/var" && ln -sfn ../run "$EMULATED/var/run" && mknod -m 666 "$EMULATED/dev/null" c 1 3 && mknod -m 666 "$EMULATED/dev/urandom" c 1 9 &&
        mount -t proc proc "$EMULATED/proc" && mount -t tmpfs -o mode=1777 shm "$EMULATED/dev/shm"
}

# Start the server of arm64 on a cluster that this machine's initdb makes. Both are in reach of the socket.
start_emulated() {
    in_root "$CROSS" install -d -o postgres /run/postgresql /data && in_root_as "$CROSS" postgres "/usr/lib/postgresql/$ARM_PG/bin/initdb" -D /data -A trust --locale=C.UTF-8 &&
        mount --bind "$CROSS/data" "$EMULATED/data" && mount --bind "$CROSS/run/postgresql" "$EMULATED/run/postgresql" || return
    in_root_emulated -D /data -c shared_preload_libraries=emogi -c emogi.max_memory=128MB -c "listen_addresses=" -c jit=off -c log_min_messages=info \
        >"$WORK/emulated.log" 2>&1 &
    for _ in $(seq 300); do
        ! psql_in "$CROSS" -c 'SELECT 1' >/dev/null 2>&1 || { psql_in "$CROSS" -c 'SELECT version()'; return; }
        sleep 0.2
    done
    cat "$WORK/emulated.log"
    return 1
}
in_root_emulated() {
    chroot --userspec="$(stat -c %u:%g "$CROSS/data")" "$EMULATED" /usr/bin/qemu-aarch64-static -E LC_ALL=C.UTF-8 \
        "/usr/lib/postgresql/$ARM_PG/bin/postgres" "$@" 3>&-
}
emulated_is_arm64() { psql_in "$CROSS" -c 'SELECT version()' | grep aarch64; }

# What the engines have for other processors has a way for this one.
emulated_answers() {
    psql_in "$CROSS" -c 'CREATE EXTENSION emogi' -c 'CREATE TABLE follows AS SELECT * FROM (VALUES (1, 2), (2, 3), (1, 4)) AS edges (src, dst)' && answers "$CROSS"
}

# Check the package of a version, with a server that runs under qemu.
check_arm64_server() {
    local suite=$2
    ARM_PG=$1 CROSS=$WORK/cross-$1 EMULATED=$WORK/emulated-$1 ARM_DEB=postgresql-$1-emogi_$VERSION-1_arm64.deb
    need "A root of $suite with a cross compiler" make_cross_root "$suite"
    need "Cross-build postgresql-$ARM_PG-emogi" build_arm64
    check 'It is of arm64' arm64_package_is
    need 'A root with a server of arm64' make_emulated_root
    need 'qemu: start the server' start_emulated
    check 'It is of arm64' emulated_is_arm64
    check 'qemu: a call is answered' emulated_answers
}

check_arm64() {
    local server program
    for server in ${ARM64_WANTED:-$ARM64_SERVERS}; do
        check_arm64_server "${server%:*}" "${server#*:}"
        # the engine is the same with every server
        if [ "${server#*:}" = bookworm ]; then
            need 'Cross-build the unit tests' build_arm64_unit
            for program in $EMULATED_UNIT; do check "qemu: test_$program" run_arm64_unit "test_$program"; done
        fi
        leave_root "$EMULATED"
        leave_root "$CROSS"
    done
}
