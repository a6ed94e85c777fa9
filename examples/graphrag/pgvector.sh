# shellcheck shell=bash
# Get pgvector for the server of PG_BINDIR: as Debian packages it, or else built from the source that Debian has in a later suite. Sourced
# after tools/setup.sh, never run. Nothing but the folders of that server is written.

PGVECTOR_SUITES='trixie sid'

pgvector_is_there() { [ -e "$("$PG_BINDIR/pg_config" --sharedir)/extension/vector.control" ]; }

# Unpack Debian's package for this version of the server, and put its files where this server looks.
pgvector_from_package() {
    local folder=$1 major share lib
    major=$("$PG_BINDIR/pg_config" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/')
    apt-cache show "postgresql-$major-pgvector" >/dev/null 2>&1 || return
    share=$("$PG_BINDIR/pg_config" --sharedir) lib=$("$PG_BINDIR/pg_config" --pkglibdir)
    mkdir -p "$folder" && (cd "$folder" && apt-get -q download "postgresql-$major-pgvector" && dpkg-deb -x ./*.deb unpacked) &&
        cp "$folder/unpacked/usr/lib/postgresql/$major/lib/vector.so" "$lib/" &&
        cp "$folder/unpacked/usr/share/postgresql/$major/extension/"vector* "$share/extension/"
}

# Build it. Without bitcode, which needs the clang that the server was built with, and without what only this processor has.
pgvector_from_source() {
    local folder=$1 suite=$2
    apt_apart "$folder" deb-src "$suite" && timeout 300 apt-get "${APT_OPTIONS[@]}" update &&
        (cd "$folder" && timeout 300 apt-get "${APT_OPTIONS[@]}" source --download-only pgvector) &&
        tar xzf "$folder"/pgvector_*.orig.tar.gz -C "$folder" &&
        make -s -j"$(nproc)" -C "$folder"/pgvector-*/ OPTFLAGS= with_llvm=no PG_CONFIG="$PG_BINDIR/pg_config" all install
}

# Get it, with a folder for what is fetched.
get_pgvector() {
    local folder=$1 suite
    pgvector_is_there && return
    pgvector_from_package "$folder/package" && pgvector_is_there && return
    for suite in $PGVECTOR_SUITES; do
        pgvector_from_source "$folder/$suite" "$suite" && pgvector_is_there && return
    done
    return 1
}
