# shellcheck shell=bash
# Server with Apache AGE for bench/adoption. Debian 12 has no package, so it is installed from a
# later Debian into a separate root in WORK, which is removed at the end. Sourced, not run; requires
# root and Debian's package registry.

AGE_ROOT=$WORK/age
AGE_SUITES='sid trixie'         # newest first

in_age_root() {
    chroot "$AGE_ROOT" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}
as_age_user() { in_age_root setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }

# Unmount the root's file systems.
leave_age_root() {
    local point
    while read -r point; do umount "$point" || umount -l "$point" || true; done < <(
        awk -v below="$AGE_ROOT/" 'index($2, below) == 1 { print $2 }' /proc/mounts | sort -r)
}

# Create a root of a suite with a server and AGE.
make_age_root() {
    local suite=$1 mirror package
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$') || return
    leave_age_root
    rm -rf "$AGE_ROOT"
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$AGE_ROOT" "$mirror" || return
    cp -r /etc/apt/apt.conf.d/. "$AGE_ROOT/etc/apt/apt.conf.d/"
    [ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$AGE_ROOT/etc/"
    mkdir -p "$AGE_ROOT/etc/postgresql-common/createcluster.d" "$AGE_ROOT/dev/shm"
    echo 'create_main_cluster = false' >"$AGE_ROOT/etc/postgresql-common/createcluster.d/none.conf"
    printf '#!/bin/sh\nexit 101\n' >"$AGE_ROOT/usr/sbin/policy-rc.d" && chmod 755 "$AGE_ROOT/usr/sbin/policy-rc.d"
    mount -t proc proc "$AGE_ROOT/proc" && mount -t tmpfs -o mode=1777 shm "$AGE_ROOT/dev/shm" || return
    in_age_root apt-get -q update || return
    package=$(in_age_root apt-cache search --names-only '^postgresql-[0-9]+-age$' | awk '{ print $1 }' | sort -t - -k 2 -n | tail -n 1)
    [ -n "$package" ] && in_age_root apt-get -q install -y --no-install-recommends "$package"
}

# Start a server in the root, with its socket in AGE_ROOT/srv and lines of postgresql.conf.
start_age() {
    local bin
    bin=$(in_age_root sh -c 'ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1') || return
    in_age_root chown postgres /srv || return
    as_age_user "$bin/initdb" -D /srv/data -U postgres -A trust -E UTF8 --locale=C.UTF-8 || return
    { printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '/srv'" "shared_preload_libraries = 'age'" "$@"; } >>"$AGE_ROOT/srv/data/postgresql.conf"
    as_age_user "$bin/pg_ctl" -D /srv/data -l /srv/server.log -w -t 60 start
}

# Get a server with AGE.
get_age() {
    local suite
    for suite in $AGE_SUITES; do
        ! { make_age_root "$suite" && start_age "$@"; } || return 0
    done
    return 1
}
