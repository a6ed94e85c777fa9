# shellcheck shell=bash
# Checks of kind `apt` of packaging/check: a signed repository, from which a fresh root installs
# packages with apt's own checks. Sourced, not run.

HTTP_PID=

# Create a publisher's key: in the keyring of the ordinary user, and exported.
make_key() {
    root_install "$BUILD" gnupg apt-utils python3-minimal &&
        in_root_as "$BUILD" builder sh -c 'rm -rf ~/.gnupg && gpg -q --batch --passphrase "" --quick-generate-key "emogi test <test@emogi.example>" rsa3072 sign never &&
            gpg -q --batch --passphrase "" --pinentry-mode loopback --export-secret-keys >/src/key.secret'
}

# Run packaging/apt-repository as the ordinary user in the root that builds packages; further
# arguments are passed on.
apt_repository() {
    own_source && in_root_as "$BUILD" builder env URL="$URL" sh -c 'cd "$1" && shift && packaging/apt-repository "$@"' sh "/src/emogi-$VERSION" /src/apt "$@"
}

# Start a simple web server for the repository.
serve_repository() {
    mkdir -p "$BUILD/src/apt" && own_source && rm -f "$BUILD/src/http.log" || return
    in_root_as "$BUILD" builder sh -c 'echo $$ >/src/http.pid
        exec timeout 1800 python3 -u -m http.server 0 --bind 127.0.0.1 --directory /src/apt >/src/http.log 2>&1' &
    for _ in $(seq 100); do
        URL=http://127.0.0.1:$(sed -nE 's/.* port ([0-9]+) .*/\1/p' "$BUILD/src/http.log" 2>/dev/null)
        [ "$URL" = http://127.0.0.1: ] || break
        sleep 0.1
    done
    HTTP_PID=$(cat "$BUILD/src/http.pid") && echo "$URL" && [ "$URL" != http://127.0.0.1: ]
}
stop_serving() { [ -z "$HTTP_PID" ] || kill "$HTTP_PID" 2>/dev/null || true; HTTP_PID=; }

# Follow docs/packages.md as a user: install the key and the source; apt does the rest.
install_from_repository() {
    local root=$WORK/client
    new_root "$root" && cp "$BUILD/src/apt/emogi-archive-keyring.gpg" "$root/usr/share/keyrings/" &&
        cp "$BUILD/src/apt/emogi-bookworm.sources" "$root/etc/apt/sources.list.d/" && cat "$root/etc/apt/sources.list.d/emogi-bookworm.sources" &&
        in_root "$root" apt-get -q update --error-on=any && root_install "$root" postgresql-15-emogi &&
        in_root "$root" apt-cache policy postgresql-15-emogi && in_root "$root" pg_ctlcluster 15 main start && preload "$root" &&
        psql_in "$root" -c 'CREATE EXTENSION emogi' -c 'CREATE TABLE follows AS SELECT * FROM (VALUES (1, 2), (2, 3), (1, 4)) AS edges (src, dst)'
}
client_has() { same "$(in_root "$WORK/client" dpkg-query -W -f='${Version}' postgresql-15-emogi)" "$1"; }

# The candidate version is from this repository, at the default priority.
came_from_repository() {
    in_root "$WORK/client" apt-cache policy postgresql-15-emogi | grep -A 1 "$VERSION-1 500" | grep -F "$URL bookworm/main" && client_has "$VERSION-1"
}

# apt has fetched the lists by their hash.
lists_by_hash() { grep 'GET /dists/bookworm/main/binary-[a-z0-9]*/by-hash/SHA256/' "$BUILD/src/http.log"; }

# Check that apt fails in the client, with a matching message.
apt_refuses() {
    local words=$1 said
    shift
    ! said=$(in_root "$WORK/client" apt-get -q "$@" 2>&1) || { echo "$said"; return 1; }
    echo "$said"
    [[ $said == *"$words"* ]]
}
forget_lists() { rm -rf "$WORK/client/var/lib/apt/lists"/*; rm -f "$WORK/client/var/cache/apt/archives"/*.deb; }

# With another key apt rejects the repository.
refuses_other_key() {
    local key=$WORK/client/usr/share/keyrings/emogi-archive-keyring.gpg
    cp "$WORK/client/usr/share/keyrings/debian-archive-keyring.gpg" "$key" && forget_lists && apt_refuses 'NO_PUBKEY' update --error-on=any &&
        cp "$BUILD/src/apt/emogi-archive-keyring.gpg" "$key" && in_root "$WORK/client" apt-get -q update --error-on=any
}

# Change one byte in the middle of a file.
change_byte() { printf '\xff' | dd of="$1" bs=1 seek=$(($(stat -c %s "$1") / 2)) conv=notrunc status=none; }

# A modified package is not installed.
refuses_changed_package() {
    local deb=$BUILD/src/apt/pool/bookworm/$DEB
    forget_lists && cp -p "$deb" "$WORK/kept.deb" && change_byte "$deb" && in_root "$WORK/client" apt-get -q update --error-on=any &&
        apt_refuses 'Hash Sum mismatch' install -y --reinstall postgresql-15-emogi && cp -p "$WORK/kept.deb" "$deb"
}

# A modified list is rejected.
refuses_changed_list() {
    local lists=$BUILD/src/apt/dists/bookworm list
    cp -a "$lists" "$WORK/kept.lists" && while read -r list; do change_byte "$list"; done < <(find "$lists" -type f -path '*/binary-*') && forget_lists &&
        apt_refuses 'Hash Sum mismatch' update --error-on=any && rm -rf "$lists" && mv "$WORK/kept.lists" "$lists"
}

# The same version with different contents is rejected, and the repository does not change.
refuses_second_build() {
    local before
    before=$(cd "$BUILD/src/apt" && find . -type f -exec sha256sum {} + | sort)
    mkdir -p "$BUILD/src/again" && cp "$BUILD/src/$DEB" "$BUILD/src/again/" && printf x >>"$BUILD/src/again/$DEB" &&
        ! apt_repository /src/key.secret "/src/again/$DEB" && rm -r "$BUILD/src/again" && same "$(cd "$BUILD/src/apt" && find . -type f -exec sha256sum {} + | sort)" "$before"
}

# The next version is an upgrade, and the previous one remains. The key is that of the keyring.
upgrade_from_repository() {
    apt_repository test@emogi.example "/src/next/postgresql-15-emogi_$NEXT-1_$ARCH.deb" && in_root "$WORK/client" apt-get -q update --error-on=any &&
        in_root "$WORK/client" apt-get -q upgrade -y --no-install-recommends && client_has "$NEXT-1" && restart_in "$WORK/client" &&
        update_extension "$WORK/client" && answers "$WORK/client" &&
        in_root "$WORK/client" apt-get -q install -y --allow-downgrades "postgresql-15-emogi=$VERSION-1" && client_has "$VERSION-1"
}

# The source package can be downloaded.
source_can_be_had() {
    in_root "$WORK/client" sh -c 'sed "s/^Types: deb/Types: deb-src/" /etc/apt/sources.list.d/emogi-bookworm.sources >/etc/apt/sources.list.d/emogi-source.sources &&
        apt-get -q update --error-on=any && cd /tmp && apt-get -q source --download-only emogi && ls /tmp/*.dsc'
}

check_apt() {
    [ -e "$BUILD/src/$DEB" ] || need 'Build the packages and their source' build_first
    [ -e "$BUILD/src/next/postgresql-15-emogi_$NEXT-1_$ARCH.deb" ] || need "Build $NEXT" build_next
    need 'Create a key' make_key
    need 'A web server' serve_repository
    need 'packaging/apt-repository' apt_repository /src/key.secret "/src/$DEB" "/src/emogi_$VERSION-1.dsc"
    need 'apt install postgresql-15-emogi from the repository' install_from_repository
    check 'A call is answered' answers "$WORK/client"
    check 'The package is from the repository' came_from_repository
    check 'Lists by their hash' lists_by_hash
    check 'The source package' source_can_be_had
    check 'Another key: apt rejects the repository' refuses_other_key
    check 'A modified package: apt rejects it' refuses_changed_package
    check 'A modified list: apt rejects it' refuses_changed_list
    check 'Another build of a version is rejected' refuses_second_build
    check 'The next version is an upgrade' upgrade_from_repository
    stop_serving
}
