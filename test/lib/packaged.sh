# shellcheck shell=bash
# Server packages of a newer Debian, for versions available neither as a wheel nor as source: unpack
# them into a folder with the libraries they need, and set the paths of programs to these. Sourced
# by test/versions and test/run, not run.

PACKAGED_SUITES='sid experimental'

# Print the packages of a server: its own, and the libraries they need.
packages_of_server() {
    local version=$1
    printf '%s\n' "postgresql-$version" "postgresql-client-$version" "postgresql-server-dev-$version" libpq-dev zlib1g
    apt-cache "${APT_OPTIONS[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
        "postgresql-$version" | grep -E '^lib[a-z0-9.+-]*$' | grep -vE '(-perl|-common|-bin|-modules.*|-data)$' | sort -u
}

# Download the packages, those of PostgreSQL from the newest suite that has them, and unpack them
# into FOLDER/root.
unpack_packages() {
    local version=$1 folder=$2 packages deb
    # shellcheck disable=SC2086
    apt_apart "$folder" deb $PACKAGED_SUITES && APT_OPTIONS+=(-o Dir::State::status=/dev/null -o APT::Sandbox::User=root) &&
        timeout 600 apt-get "${APT_OPTIONS[@]}" update && packages=$(packages_of_server "$version") || return
    # shellcheck disable=SC2086
    (cd "$folder" && timeout 600 apt-get "${APT_OPTIONS[@]}" -t experimental download $packages) || return
    mkdir "$folder/root" && for deb in "$folder"/*.deb; do dpkg -x "$deb" "$folder/root" && rm "$deb" || return; done
}

# Set the loader and library path of the programs in a folder to its own C library and libraries.
use_own_libraries() {
    local root=$1 loader program
    loader=$(echo "$root"/usr/lib/*/ld-linux-*.so.?) && [ -e "$loader" ] || return
    while read -r program; do
        ! patchelf --print-interpreter "$program" >/dev/null 2>&1 ||
            patchelf --set-interpreter "$loader" --force-rpath --set-rpath "${loader%/*}" "$program" || return
    done < <(find "$root"/usr/lib/postgresql/*/bin "$root"/usr/lib/postgresql/*/lib/pgxs/src/test -type f -perm -u+x)
}

# Remove compiler features that the local compiler lacks from a server's headers and makefiles.
suit_compiler() {
    local header=$1 makefile=$2 flag
    sed -i -E 's/^(#define HAVE_DECL_STRLC(AT|PY)) 1/\1 0/; s/^#define HAVE_TYPEOF_UNQUAL 1//' "$header"
    while read -r flag; do
        gcc "$flag" -fsyntax-only -x c /dev/null 2>/dev/null || sed -i "s/^\(CFLAGS = .*\) $flag /\1 /" "$makefile"
    done < <(sed -nE 's/^CFLAGS = //p' "$makefile" | grep -oE -- '-W[a-z][a-z-]*(=[a-z0-9-]+)?')
}

# Get the packaged server of a version into a folder; HOME becomes a link to it.
get_packaged() {
    local version=$1 home=$2 root=$2.packages/root
    install_missing patchelf && unpack_packages "$version" "$home.packages" && use_own_libraries "$root" &&
        suit_compiler "$root/usr/include/postgresql/$version/server/pg_config.h" \
            "$root/usr/lib/postgresql/$version/lib/pgxs/src/Makefile.global" &&
        ln -s "$root/usr/lib/postgresql/$version" "$home"
}
