# shellcheck shell=bash
# The kind `docker` of packaging/check: the Dockerfile. Sourced by packaging/check, never run.

# Debian's server in the place of the official image, with its user and folders; the image comes from a registry that is not asked here.
make_postgres_image() {
    new_root "$WORK/postgres" && root_install "$WORK/postgres" postgresql-15 && in_root "$WORK/postgres" pg_dropcluster 15 main &&
        umount "$WORK/postgres/proc" "$WORK/postgres/dev/shm"
}

run_dockerfile() {
    "$ROOT/packaging/dockerfile" "$WORK/unpacked/emogi-$VERSION" "$WORK/image" postgres:15-bookworm="$WORK/postgres" && enter_root "$WORK/image/last"
}

# What the image does with an empty data folder: initdb, then the scripts of docker-entrypoint-initdb.d. Roots share the ports of the machine.
image_answers() {
    local root=$WORK/image/last bin=/usr/lib/postgresql/15/bin
    in_root "$root" install -d -o postgres /run/postgresql /data && in_root_as "$root" postgres "$bin/initdb" -D /data -A trust &&
        in_root_as "$root" postgres "$bin/pg_ctl" -D /data -l /tmp/log -w -o "-c emogi.max_memory=128MB -c listen_addresses=''" start || return
    for script in "$root"/docker-entrypoint-initdb.d/*.sql; do psql_in "$root" -f "${script#"$root"}" || return; done
    psql_in "$root" -c 'CREATE TABLE follows AS SELECT * FROM (VALUES (1, 2), (2, 3), (1, 4)) AS edges (src, dst)' && answers "$root"
}

# The last stage has the extension, and no compiler.
image_is_small() { [ -e "$WORK/image/last/usr/lib/postgresql/15/lib/emogi.so" ] && [ ! -e "$WORK/image/last/usr/bin/gcc" ] && [ ! -e "$WORK/image/last/emogi" ]; }

check_docker() {
    need 'A root in the place of the official image' make_postgres_image
    need 'The steps of the Dockerfile' run_dockerfile
    check 'A call is answered in the image' image_answers
    check 'The image has no compiler and no source' image_is_small
}
