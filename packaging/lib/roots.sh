# shellcheck shell=bash
# Roots: fresh Debian installations in WORK in which packages are built, installed and tested.
# Sourced by packaging/check, not run.

# Run a command in a root, as root; or as another user.
in_root() {
    local root=$1
    shift
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@" 3>&-
}
in_root_as() {
    local root=$1 user=$2
    shift 2
    chroot "$root" setpriv --reuid="$user" --regid="$user" --init-groups env -i PATH=/usr/local/bin:/usr/bin:/bin \
        HOME="$(awk -F: -v user="$user" '$1 == user { print $6 }' "$root/etc/passwd")" LC_ALL=C.UTF-8 USER="$user" LOGNAME="$user" "$@" 3>&-
}

# Stop the servers of all roots and unmount their file systems.
leave_roots() {
    local point
    stop_serving
    stop_container
    stop_servers_below "$WORK"
    while read -r point; do umount "$point" || umount -l "$point" || true; done < <(
        awk -v below="$WORK/" 'index($2, below) == 1 { print $2 }' /proc/mounts | sort -r)
}

# Leave and remove one root, to free space for others.
leave_root() {
    local root=$1 point
    stop_servers_below "$root"
    while read -r point; do umount "$point" || umount -l "$point" || return; done < <(
        awk -v root="$root" '$2 == root || index($2, root "/") == 1 { print $2 }' /proc/mounts | sort -r)
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$root"
}

# Allow programs to run in a root, and prevent packages from starting servers.
enter_root() {
    local root=$1
    mount -t proc proc "$root/proc" && mount -t tmpfs -o mode=1777 shm "$root/dev/shm" 2>/dev/null ||
        { mkdir -p "$root/dev/shm" && mount -t tmpfs -o mode=1777 shm "$root/dev/shm"; } || return
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod 755 "$root/usr/sbin/policy-rc.d"
}

# Create a root from the base.
new_root() { cp -a "$BASE" "$1" && enter_root "$1"; }

# Roots use the package sources of the machine's apt.
make_base() {
    local mirror
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$') || return
    debootstrap --variant=minbase --include=ca-certificates bookworm "$BASE" "$mirror" || return
    cp -r /etc/apt/apt.conf.d/. "$BASE/etc/apt/apt.conf.d/"
    rm -f "$BASE/etc/apt/sources.list"
    cp -r /etc/apt/sources.list.d/. "$BASE/etc/apt/sources.list.d/"
    [ ! -e /etc/apt/sources.list ] || cp /etc/apt/sources.list "$BASE/etc/apt/"
    mkdir -p "$BASE/usr/share/keyrings" "$BASE/etc/apt/keyrings"
    cp -rn /usr/share/keyrings/. "$BASE/usr/share/keyrings/"
    [ ! -d /etc/apt/keyrings ] || cp -r /etc/apt/keyrings/. "$BASE/etc/apt/keyrings/"
    [ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$BASE/etc/"
    in_root "$BASE" apt-get -q update
}

# Install packages in a root, with required dependencies only.
root_install() {
    local root=$1
    shift
    in_root "$root" apt-get -q install -y --no-install-recommends "$@"
}
