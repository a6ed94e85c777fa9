# shellcheck shell=bash
# The kind `docker` of packaging/check: the images of the Dockerfile, built by buildah, and the compose file, whose container runc runs. Sourced
# by it, never run.
#
# buildah needs no daemon: with the isolation chroot it runs as root wherever a root can be entered. Neither does runc. The official image of
# PostgreSQL comes from a registry that is not used here: Debian's server is in its place, with the same user and folders, and
# packaging/entrypoint, or the official scripts, if POSTGRES_ENTRYPOINT names their folder.

IMAGES=$WORK/images     # with buildah and its store of images

in_images() { in_root "$IMAGES" env BUILDAH_ISOLATION=chroot STORAGE_DRIVER=overlay "$@"; }

# A root that is a mount of its own, as buildah asks.
make_images_root() {
    cp -a "$BASE" "$IMAGES" && mount --bind "$IMAGES" "$IMAGES" && enter_root "$IMAGES" && root_install "$IMAGES" buildah docker-compose python3-yaml runc &&
        in_images buildah --version
}

# Give a root what the official image adds to Debian's server.
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

# The image that FROM names.
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

# Run runc with the root that has it as that of a name space, which runc exec needs, and the control groups of the machine.
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

# The limit of the compose file is that of the container's control group.
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

# docker compose up again, without -v before: the data is there, and no script runs.
container_returns() { container_up && grep 'Skipping initialization' "$IMAGES/container/log" && count_levels; }

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
    need 'The container of the compose file; no compiler' make_container
    need 'runc: up' container_up
    check 'runc: a call is answered' container_answers
    check '... within the limit of memory' container_is_limited
    need 'runc: down' container_down
    check 'runc: up again, with the data' container_returns
    check 'runc: down' container_down
    check 'An image volume: files and user' extension_image_is
    check 'docker-compose reads the compose file' compose_is_valid
    check 'Archives of the images' image_size emogi
    check '... of the extension' image_size emogi-extension
    leave_root "$IMAGES"
}
