# shellcheck shell=bash
# The kind `docker` of packaging/check: the images of the Dockerfile, built by buildah, and the compose file. Sourced by it, never run.
#
# buildah needs no daemon: with the isolation chroot it runs as root wherever a root can be entered. The official image of PostgreSQL comes
# from a registry that is not asked here: Debian's server stands in its place, with the same user and folders.

IMAGES=$WORK/images     # with buildah and its store of images

in_images() { in_root "$IMAGES" env BUILDAH_ISOLATION=chroot STORAGE_DRIVER=overlay "$@"; }

# A root that is a mount of its own, as buildah asks.
make_images_root() {
    cp -a "$BASE" "$IMAGES" && mount --bind "$IMAGES" "$IMAGES" && enter_root "$IMAGES" && root_install "$IMAGES" buildah docker-compose python3-yaml &&
        in_images buildah --version
}

# The image that FROM names.
make_postgres_image() {
    local container
    new_root "$WORK/postgres" && root_install "$WORK/postgres" postgresql-15 && in_root "$WORK/postgres" pg_dropcluster 15 main &&
        umount "$WORK/postgres/proc" "$WORK/postgres/dev/shm" && tar -C "$WORK/postgres" --one-file-system -cf "$IMAGES/postgres.tar" . || return
    container=$(in_images buildah from scratch) && in_images buildah add -q "$container" /postgres.tar / &&
        in_images buildah config --env PG_MAJOR=15 --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container" &&
        in_images buildah commit -q --rm "$container" docker.io/library/postgres:15-bookworm && rm "$IMAGES/postgres.tar" && leave_root "$WORK/postgres"
}

# Build an image as the Dockerfile's first lines say; further arguments go to buildah.
build_image() {
    local name=$1
    shift
    rm -rf "$IMAGES/emogi" && cp -a "$WORK/unpacked/emogi-$VERSION" "$IMAGES/emogi" &&
        in_images buildah bud --layers --pull-never -t "$name" "$@" /emogi && in_images buildah images
}

# Print the size of an image, and of its archive as registries have it.
image_size() {
    in_images buildah push -q "$1" "oci-archive:/$1.tar:$1" && printf '  %s: %s, %s compressed\n' "$1" \
        "$(in_images buildah images --format '{{.Size}}' "$1")" "$(du -h "$IMAGES/$1.tar" | cut -f 1)" >&3
}

# Print the folder of a new container of an image.
mount_image() {
    local container
    container=$(in_images buildah from --pull-never "$1") && echo "$IMAGES$(in_images buildah mount "$container")"
}

# What the image does with an empty data folder: initdb, then the scripts of docker-entrypoint-initdb.d, with that of the compose file.
# Roots share the ports of the machine.
image_answers() {
    local root bin=/usr/lib/postgresql/15/bin script
    root=$(mount_image emogi) && enter_root "$root" && cp "$ROOT/examples/compose/sample.sql" "$root/docker-entrypoint-initdb.d/20-sample.sql" &&
        in_root "$root" install -d -o postgres /run/postgresql /data && in_root_as "$root" postgres "$bin/initdb" -D /data -A trust &&
        in_root_as "$root" postgres "$bin/pg_ctl" -D /data -l /tmp/log -w -o "-c emogi.max_memory=128MB -c listen_addresses=''" start || return
    for script in "$root"/docker-entrypoint-initdb.d/*.sql; do psql_in "$root" -f "${script#"$root"}" || return; done
    same "$(psql_in "$root" -c "SELECT string_agg(n::text, ' ' ORDER BY level) FROM (SELECT level, count(*) AS n FROM emogi_bfs('friends', 1, direction => 'both') GROUP BY level) AS levels")" \
        '1 16 9 8' && [ ! -e "$root/usr/bin/gcc" ] && [ ! -e "$root/emogi" ]
}

# The image of the extension has its files and nothing else, for a user without rights.
extension_image_is() {
    local root
    root=$(mount_image emogi-extension) && same "$(cd "$root" && find . -type f -printf '%P\n' | sort | tr '\n' ' ')" \
        "lib/emogi.so licenses/emogi/LICENSE share/extension/emogi--$VERSION.sql share/extension/emogi.control " &&
        same "$(in_images buildah inspect --type image --format '{{.OCIv1.Config.User}}' emogi-extension)" '65532:65532'
}

# The compose file is valid, and what it mounts is there.
compose_is_valid() {
    in_root "$IMAGES" sh -c 'cd /emogi/examples/compose && docker-compose -f compose.yaml config' && [ -f "$IMAGES/emogi/examples/compose/sample.sql" ]
}

check_docker() {
    need 'A root with buildah' make_images_root
    need 'An image in the place of the official one' make_postgres_image
    need 'buildah: the image' build_image emogi
    need 'buildah: the files of the extension alone' build_image emogi-extension --target extension
    check 'The image answers, and has no compiler' image_answers
    check 'An image volume: files and user' extension_image_is
    check 'docker-compose reads the compose file' compose_is_valid
    check 'Archives of the images' image_size emogi
    check '... of the extension' image_size emogi-extension
    leave_root "$IMAGES"
}
