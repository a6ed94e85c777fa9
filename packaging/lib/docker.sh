# shellcheck shell=bash
# Checks of kind `docker` of packaging/check: the images of the Dockerfile, built by buildah, and
# the compose file, whose container is run by runc. Sourced, not run.
#
# buildah needs no daemon: with chroot isolation it runs as root wherever chroot is possible.
# Neither does runc. The registry of PostgreSQL's official image is not used: Debian's server
# replaces it, with the same user and folders, and packaging/entrypoint, or the official scripts if
# POSTGRES_ENTRYPOINT is their folder.

IMAGES=$WORK/images     # buildah and its image store

in_images() { in_root "$IMAGES" env BUILDAH_ISOLATION=chroot STORAGE_DRIVER=overlay "$@"; }

# A root that is a separate mount, as buildah requires.
make_images_root() {
    cp -a "$BASE" "$IMAGES" && mount --bind "$IMAGES" "$IMAGES" && enter_root "$IMAGES" && root_install "$IMAGES" buildah docker-compose python3-yaml runc &&
        in_images buildah --version
}

# Add what the official image adds to Debian's server.
add_entrypoint() {
    local root=$1 sample=/usr/share/postgresql/15/postgresql.conf.sample
    mkdir "$root/docker-entrypoint-initdb.d" && sed -i "s/^#listen_addresses = .*/listen_addresses = '*'/" "$root$sample" &&
        in_root "$root" install -d -o postgres -g postgres -m 3777 /run/postgresql &&
        in_root "$root" install -d -o postgres -g postgres -m 1777 /var/lib/postgresql/data || return
    if [ -n "${POSTGRES_ENTRYPOINT:-}" ]; then
        root_install "$root" gosu && install -m 755 "$POSTGRES_ENTRYPOINT"/docker-e*.sh "$root/usr/local/bin/"
    else
        install -m 755 "$ROOT/packaging/entrypoint" "$root/usr/local/bin/docker-entrypoint.sh"
    fi
}

# The image of the FROM line.
make_postgres_image() {
    local container bin=/usr/lib/postgresql/15/bin
    new_root "$WORK/postgres" && root_install "$WORK/postgres" postgresql-15 && in_root "$WORK/postgres" pg_dropcluster 15 main &&
        add_entrypoint "$WORK/postgres" && umount "$WORK/postgres/proc" "$WORK/postgres/dev/shm" &&
        tar -C "$WORK/postgres" --one-file-system -cf "$IMAGES/postgres.tar" . || return
    container=$(in_images buildah from scratch) && in_images buildah add -q "$container" /postgres.tar / &&
        in_images buildah config --env PG_MAJOR=15 --env "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$bin" \
            --env PGDATA=/var/lib/postgresql/data --entrypoint '["docker-entrypoint.sh"]' --cmd postgres --stop-signal SIGINT "$container" &&
        in_images buildah commit -q --rm "$container" docker.io/library/postgres:15-bookworm && rm "$IMAGES/postgres.tar" && leave_root "$WORK/postgres"
}

# Build an image as described in the first lines of the Dockerfile; further arguments are passed to
# buildah.
build_image() {
    local name=$1
    shift
    rm -rf "$IMAGES/emogi" && cp -a "$WORK/unpacked/emogi-$VERSION" "$IMAGES/emogi" &&
        in_images buildah bud --layers --pull-never -t "$name" "$@" /emogi && in_images buildah images
}

# Print the size of an image, and of its archive as in registries.
image_size() {
    in_images buildah push -q "$1" "oci-archive:/$1.tar:$1" && printf '  %s: %s, %s compressed\n' "$1" \
        "$(in_images buildah images --format '{{.Size}}' "$1")" "$(du -h "$IMAGES/$1.tar" | cut -f 1)" >&3
}

# Print the folder of a new container of an image.
mount_image() {
    local container
    container=$(in_images buildah from --pull-never "$1") && echo "$IMAGES$(in_images buildah mount "$container")"
}

# Run runc with its root as the root of a namespace, which runc exec needs, and the machine's
# control groups.
in_runc() {
    unshare --mount --propagation private sh -c 'mount --rbind /sys "$1/sys" && cd "$1" && mkdir -p old && pivot_root . old && umount -l /old && shift &&
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin runc "$@"' sh "$IMAGES" "$@" 3>&-
}
in_container() { in_runc exec db "$@"; }
stop_container() { [ ! -e "$IMAGES/run/runc/db" ] || in_runc delete --force db; }

count_levels() {
    same "$(in_container psql -U postgres -Atc "SELECT string_agg(n::text, ' ' ORDER BY level) FROM (SELECT level, count(*) AS n FROM emogi_bfs('friends', 1, direction => 'both') GROUP BY level) AS levels")" \
        '1 16 9 8'
}

# Write the configuration of the compose file's container, and create its volume.
make_container() {
    local root bundle=$IMAGES/container
    root=$(mount_image emogi) && [ ! -e "$root/usr/bin/gcc" ] && [ ! -e "$root/emogi" ] && mkdir -p "$bundle/volumes/data" &&
        in_images buildah inspect --type image emogi >"$bundle/image.json" &&
        in_root "$IMAGES" docker-compose -f /emogi/examples/compose/compose.yaml config >"$bundle/compose.yaml" &&
        in_root "$IMAGES" /emogi/packaging/container /container/image.json /container/compose.yaml db "${root#"$IMAGES"}" /container/volumes \
            >"$bundle/config.json" && cat "$bundle/config.json"
}

# docker compose up -d --wait
container_up() {
    in_runc run --detach --bundle /container db >"$IMAGES/container/log" 2>&1 || return
    for _ in $(seq 60); do
        ! in_container psql -h 127.0.0.1 -U postgres -Atc 'SELECT emogi_version()' || return 0
        sleep 2
    done
    cat "$IMAGES/container/log"
    return 1
}

# docker compose exec db psql
container_answers() {
    same "$(in_container psql -U postgres -At -c "SELECT * FROM emogi_bfs('friends', 1, direction => 'both') ORDER BY level, vertex" | head -3 | tr '\n' ' ')" \
        '1|0 2|1 3|1 ' && count_levels
}

# The memory limit of the compose file is that of the container's control group.
container_is_limited() {
    same "$(in_container sh -c 'cat /sys/fs/cgroup/memory.max || cat /sys/fs/cgroup/memory/memory.limit_in_bytes')" "$((2 << 30))"
}

# docker compose down
container_down() {
    in_runc kill db INT || return
    for _ in $(seq 60); do
        [ "$(in_runc state db | sed -nE 's/^ *"status": "(.*)".*/\1/p')" != stopped ] || { in_runc delete db && tail -n 1 "$IMAGES/container/log" | grep 'database system is shut down'; return; }
        sleep 0.5
    done
    return 1
}

# docker compose up again, without a previous -v: the data is preserved, and no script runs.
container_returns() { container_up && grep 'Skipping initialization' "$IMAGES/container/log" && count_levels; }

# The extension's image contains exactly its files, for an unprivileged user.
extension_image_is() {
    local root
    root=$(mount_image emogi-extension) && same "$(cd "$root" && find . -type f -printf '%P\n' | sort | tr '\n' ' ')" \
        "lib/emogi.so licenses/emogi/LICENSE share/extension/emogi--$VERSION.sql share/extension/emogi.control " &&
        same "$(in_images buildah inspect --type image --format '{{.OCIv1.Config.User}}' emogi-extension)" '65532:65532'
}

# The compose file is valid, and its mounted files exist.
compose_is_valid() {
    in_root "$IMAGES" sh -c 'cd /emogi/examples/compose && docker-compose -f compose.yaml config' && [ -f "$IMAGES/emogi/examples/compose/sample.sql" ]
}

check_docker() {
    need 'A root with buildah' make_images_root
    need 'An image that replaces the official one' make_postgres_image
    need 'buildah: the image' build_image emogi
    need 'buildah: the image of the extension' build_image emogi-extension --target extension
    need 'The container of the compose file; no compiler' make_container
    need 'runc: up' container_up
    check 'runc: a call is answered' container_answers
    check '... within the limit of memory' container_is_limited
    need 'runc: down' container_down
    check 'runc: restart with the data' container_returns
    check 'runc: down' container_down
    check 'An image volume: files and user' extension_image_is
    check 'docker-compose reads the compose file' compose_is_valid
    check 'Archives of the images' image_size emogi
    check '... of the extension' image_size emogi-extension
    leave_root "$IMAGES"
}
