# shellcheck shell=bash
# The kind `deb` of packaging/check: the Debian packages of PostgreSQL 15, from the build to the purge. Sourced by packaging/check, never run.

make_build_root() {
    new_root "$BUILD" && mkdir "$BUILD/src" &&
        in_root "$BUILD" sh -c 'mkdir -p /etc/postgresql-common/createcluster.d &&
            echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.d/none.conf' &&
        root_install "$BUILD" build-essential devscripts fakeroot lintian rpm rpmlint pgxnclient &&
        in_root "$BUILD" useradd -m builder || return
    cp -a "$WORK/unpacked/emogi-$VERSION" "$BUILD/src/"
    in_root "$BUILD" apt-get -q build-dep -y --no-install-recommends "/src/emogi-$VERSION" && own_source
}
own_source() { in_root "$BUILD" chown -R builder:builder /src; }

# debian/control is that of the servers which Debian 12 has.
control_is_current() { in_root_as "$BUILD" builder sh -c "cd /src/emogi-$VERSION && pg_buildext checkcontrol"; }

# Build packages of the source in a folder of /src, by the ordinary user; further arguments go to dpkg-buildpackage.
build_packages() {
    local folder=$1
    shift
    own_source && in_root_as "$BUILD" builder sh -c 'cd "$1" && shift && DEB_BUILD_OPTIONS="parallel=$(nproc)" dpkg-buildpackage -us -uc "$@"' \
        sh "/src/$folder" "$@"
}

# The package of this source, and its source package: the archive is the upstream one, in the form that Debian wants.
build_first() {
    in_root_as "$BUILD" builder sh -c "cd /src && tar -czf emogi_$VERSION.orig.tar.gz emogi-$VERSION" && build_packages "emogi-$VERSION"
}

# The next version, with a script that updates the SQL, as a release will have it.
build_next() {
    local folder=$BUILD/src/next/emogi-$NEXT
    mkdir -p "$BUILD/src/next" && cp -a "$WORK/unpacked/emogi-$VERSION" "$folder" || return
    cat >"$folder/sql/emogi--$VERSION--$NEXT.sql" <<END
CREATE FUNCTION _emogi_script(version text) RETURNS void AS 'MODULE_PATHNAME', 'emogi_script' LANGUAGE C STRICT;
SELECT _emogi_script('$NEXT');
DROP FUNCTION _emogi_script(text);
END
    sed -i "1,3s/$VERSION/$NEXT/" "$folder/debian/changelog" "$folder/CHANGELOG.md" &&
        sed -i "/^%changelog/,\$s/ - $VERSION-/ - $NEXT-/" "$folder/packaging/emogi.spec" &&
        "$folder/packaging/version" "$NEXT" && build_packages "next/emogi-$NEXT" -b
}

# The same package with a later revision of the packaging: the files are the same, so it is not built anew. It lies apart from what is published.
repack_revision() {
    in_root "$BUILD" sh -c "cd /src/next && dpkg-deb -R ../$DEB revision && sed -i 's/^Version: .*/Version: $VERSION-2/' revision/DEBIAN/control &&
        dpkg-deb -b revision postgresql-15-emogi_$VERSION-2_$ARCH.deb"
}

no_lint() { in_root_as "$BUILD" builder lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs "$@"; }

# The packages of a build without nvcc: the extension for each server, and symbols for debuggers.
packages_are() { same "$(cd "$BUILD/src" && echo postgresql-*.deb)" "postgresql-15-emogi-dbgsym_$VERSION-1_$ARCH.deb $DEB"; }

# What the build says of the three lines that it asked a server with what it had built.
was_tried() { grep -A 30 'PostgreSQL 15 psql' "$LOG" | grep -x 'CREATE EXTENSION'; }

psql_in() {
    local root=$1
    shift
    in_root_as "$root" postgres psql -X -q -At -v ON_ERROR_STOP=1 "$@"
}
restart_in() { in_root "$1" pg_ctlcluster 15 main restart; }

# Install the package in a fresh root, with the server that it needs. The packages are those of DEBS.
install_fresh() {
    local root=$1
    shift
    new_root "$root" && mkdir "$root/deb" && cp "${DEBS[@]}" "$root/deb/" && root_install "$root" "$@" &&
        in_root "$root" pg_ctlcluster 15 main start
}

# Without preloading the extension can be made, and a call says what is missing.
says_not_preloaded() {
    psql_in "$1" -c 'CREATE EXTENSION emogi' -c 'CREATE TABLE follows AS SELECT * FROM (VALUES (1, 2), (2, 3), (1, 4)) AS edges (src, dst)' &&
        hints_at "$1" "SELECT * FROM emogi_bfs('follows', 1)" 'Add emogi to shared_preload_libraries'
}

# What README.Debian says.
preload() {
    in_root "$1" pg_conftool 15 main set shared_preload_libraries emogi && in_root "$1" pg_conftool 15 main set emogi.max_memory 128MB && restart_in "$1"
}
answers() { same "$(psql_in "$1" -c "SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs('follows', 1)")" '1:0 2:1 3:2 4:1'; }
upgrade_to() { root_install "$1" "/deb/postgresql-15-emogi_$2_$ARCH.deb" && same "$(in_root "$1" dpkg-query -W -f='${Version}' postgresql-15-emogi)" "$2"; }

# A call that is refused, and what its HINT says.
hints_at() {
    local said
    ! said=$(psql_in "$1" -c "$2" 2>&1) || return
    echo "$said"
    [[ $said == *"HINT:  $3"* ]]
}
update_extension() { psql_in "$1" -c 'ALTER EXTENSION emogi UPDATE' && same "$(psql_in "$1" -c "SELECT extversion FROM pg_extension WHERE extname = 'emogi'")" "$NEXT"; }

files_of() { (cd "$1" && find . -xdev \( -path ./proc -o -path ./var/lib/postgresql -o -path ./var/log -o -path ./var/cache -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./run -o -path ./tmp -o -path ./deb \) -prune -o -print | sort); }

# After the purge all files of the package are gone, and no others. The statistics that a server wrote at its stop, and that no later one read, are
# the administrator's to remove: docs/packages.md, "Removal".
purge_leaves_nothing() {
    local root=$1
    psql_in "$root" -c 'DROP EXTENSION emogi' && in_root "$root" pg_conftool 15 main remove shared_preload_libraries &&
        in_root "$root" pg_conftool 15 main remove emogi.max_memory && restart_in "$root" || return
    files_of "$root" >"$WORK/before" && in_root "$root" dpkg -L postgresql-15-emogi | sed 's/^/./' | sort >"$WORK/listed" &&
        in_root "$root" apt-get -q purge -y postgresql-15-emogi && files_of "$root" >"$WORK/after" || return
    # folders that other packages have, too, stay
    diff <(comm -23 "$WORK/before" "$WORK/after") <(comm -12 "$WORK/listed" "$WORK/before" | comm -23 - "$WORK/after") &&
        same "$(comm -13 "$WORK/before" "$WORK/after")" '' &&
        same "$(find "$root" -xdev -iname '*emogi*' -not -path "$root/deb/*" -not -path "$root/var/cache/*" -not -path "$root/proc/*")" \
            "$root/var/lib/postgresql/15/main/pg_stat/emogi.stat" &&
        ! in_root "$root" dpkg-query -W postgresql-15-emogi && restart_in "$root" && same "$(psql_in "$root" -c 'SELECT count(*) FROM follows')" 3
}

# The links of the installed manual lead to what is installed.
installed_links_lead() { "$ROOT/packaging/manual" --check "$1/usr/share/doc/postgresql-15-emogi"; }

# A package that is removed while a server preloads emogi says so; installed again, it is as before.
removal_warns() {
    local root=$1 said
    said=$(in_root "$root" apt-get -q remove -y postgresql-15-emogi) && echo "$said" && root_install "$root" "/deb/$DEB" &&
        [[ $said == *'in /etc/postgresql/15/main/postgresql.conf names emogi'* ]]
}

# Run a test of debian/tests in a root, by an ordinary user, with the installed package.
install_in_build_root() { root_install "$BUILD" "/src/$DEB"; }
autopkgtest() {
    local root=$1
    rm -rf "$root/src/tests" && cp -a "$WORK/unpacked/emogi-$VERSION" "$root/src/tests" && in_root "$root" chown -R builder:builder /src &&
        in_root_as "$root" builder sh -c "cd /src/tests && debian/tests/$2"
}

check_deb() {
    local root=$WORK/installed next=$VERSION-2
    check 'debian/control is of the servers that there are' control_is_current
    need 'Build the packages and their source' build_first
    check 'The build asked a server' was_tried
    check 'It made the packages that it should' packages_are
    check 'lintian' no_lint "/src/emogi_$VERSION-1_$ARCH.changes"
    need "Build $NEXT" build_next
    need "Make revision $next" repack_revision
    DEBS=("$BUILD/src"/*.deb "$BUILD/src/next"/*.deb)
    need 'Install in a fresh root, start the server' install_fresh "$root" "/deb/$DEB"
    check 'Not preloaded: a call says what to do' says_not_preloaded "$root"
    need 'As README.Debian says' preload "$root"
    check 'A call is answered' answers "$root"
    check 'The links of the manual lead somewhere' installed_links_lead "$root"
    check 'Removal says which server preloads it' removal_warns "$root"
    check "Upgrade to $next, the server runs" upgrade_to "$root" "$next"
    check '... and answers' answers "$root"
    check '... after a restart' restart_in "$root"
    check '... it answers' answers "$root"
    check "Upgrade to $NEXT-1, the server runs" upgrade_to "$root" "$NEXT-1"
    check '... and answers' answers "$root"
    check '... ALTER EXTENSION UPDATE wants a restart' hints_at "$root" 'ALTER EXTENSION emogi UPDATE' 'Restart the server'
    check '... after the restart' restart_in "$root"
    check '... calls want ALTER EXTENSION UPDATE' hints_at "$root" "SELECT * FROM emogi_bfs('follows', 1)" 'Run ALTER EXTENSION emogi UPDATE'
    check '... ALTER EXTENSION UPDATE' update_extension "$root"
    check '... calls are answered' answers "$root"
    check 'Purge leaves nothing' purge_leaves_nothing "$root"
    need 'Install where there are the tests of the source' install_in_build_root
    check 'debian/tests/three-lines' autopkgtest "$BUILD" three-lines
    if [ "${INSTALLCHECK:-yes}" != no ]; then check 'debian/tests/installcheck' autopkgtest "$BUILD" installcheck; fi
    check 'Remove it there' in_root "$BUILD" apt-get -q purge -y postgresql-15-emogi
}
