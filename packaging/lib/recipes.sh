# shellcheck shell=bash
# Checks of kind `recipes` of packaging/check: the Homebrew formula and the files for Pigsty. Debian
# has neither tool, so their steps are run with Debian's tools. Sourced, not run.

# The formula contains the hash of the published archive.
make_formula() {
    mkdir -p "$BUILD/src/brew" && "$ROOT/packaging/formula" "$WORK/emogi-$VERSION.zip" >"$BUILD/src/brew/emogi.rb" && cat "$BUILD/src/brew/emogi.rb" &&
        grep -F "$(sha256sum "$WORK/emogi-$VERSION.zip" | cut -d ' ' -f 1)" "$BUILD/src/brew/emogi.rb" && ! grep '@[A-Z0-9]*@' "$BUILD/src/brew/emogi.rb"
}

# Run the formula's install and test with Ruby; Debian's server replaces its dependency.
formula_works() {
    root_install "$BUILD" ruby postgresql-15 && cp "$ROOT/packaging/homebrew/try" "$BUILD/src/brew/" && rm -rf "$BUILD/src/brew/emogi" &&
        cp -a "$WORK/unpacked/emogi-$VERSION" "$BUILD/src/brew/emogi" && own_source &&
        in_root_as "$BUILD" builder ruby /src/brew/try /src/brew/emogi.rb /src/brew/emogi /usr/lib/postgresql/15
}

# The row of Pigsty's catalog agrees with emogi.control and the packages.
row_is_right() {
    in_root "$BUILD" python3 - "/src/emogi-$VERSION" <<'END'
import csv, re, sys
top = sys.argv[1]
rows = list(csv.DictReader(open(top + '/packaging/pigsty/extension.csv', encoding='utf-8')))
control = dict(re.findall(r"^(\w+) = '?(.*?)'?$", open(top + '/emogi.control').read(), re.M))
flag = {'true': 't', 'false': 'f'}
expected = {'name': 'emogi', 'version': control['default_version'], 'rpm_ver': control['default_version'], 'deb_ver': control['default_version'],
    'relocatable': flag[control['relocatable']], 'trusted': flag[control.get('trusted', 'false')], 'need_load': 't', 'need_ddl': 't',
    'rpm_pkg': 'emogi_$v', 'deb_pkg': 'postgresql-$v-emogi', 'source': 'emogi-%s.tar.gz' % control['default_version'], 'license': 'PostgreSQL'}
assert len(rows) == 1 and None not in rows[0], rows
wrong = {key: (rows[0][key], value) for key, value in expected.items() if rows[0][key] != value}
assert not wrong, wrong
END
}

# Its spec is parsed by rpm, with the names of PGDG's packages.
pigsty_spec_is_right() {
    local out
    out=$(in_root "$BUILD" rpmspec -q --define 'pgmajorversion 17' --qf '%{name} %{version}\n' "/src/emogi-$VERSION/packaging/pigsty/emogi.spec") &&
        same "$out" "emogi_17 $VERSION"
}

# Its spec builds the package, with Debian's folders instead of PGDG's.
pigsty_rpm_builds() {
    rm -rf "$BUILD/src/pigsty" && mkdir -p "$BUILD/src/pigsty/SOURCES" && tar -C "$WORK/unpacked" -czf "$BUILD/src/pigsty/SOURCES/emogi-$VERSION.tar.gz" "emogi-$VERSION" &&
        own_source && in_root_as "$BUILD" builder rpmbuild -bb --nodeps --define '_topdir /src/pigsty' --define 'pgmajorversion 15' \
            --define 'pginstdir /usr/lib/postgresql/15' --define 'pgsharedir /usr/share/postgresql/15' "/src/emogi-$VERSION/packaging/pigsty/emogi.spec" &&
        ls -l "$BUILD"/src/pigsty/RPMS/*/"emogi_15-$VERSION-1PIGSTY"*.rpm
}

# Its Makefile unpacks the source and creates debian/control; the kind deb tests the build itself.
pigsty_deb_is_set_up() {
    rm -rf "$BUILD/src/pigsty-deb" && mkdir -p "$BUILD/src/pigsty-deb/tarball" "$BUILD/src/pigsty-deb/emogi" &&
        tar -C "$WORK/unpacked" -czf "$BUILD/src/pigsty-deb/tarball/emogi-$VERSION.tar.gz" "emogi-$VERSION" &&
        cp "$ROOT/packaging/pigsty/Makefile" "$BUILD/src/pigsty-deb/emogi/" && own_source &&
        in_root_as "$BUILD" builder sh -c 'make -C /src/pigsty-deb/emogi setup && cd /src/pigsty-deb/emogi/build && dpkg-parsechangelog -S Version && debian/rules -n clean' &&
        same "$(in_root_as "$BUILD" builder sh -c 'cd /src/pigsty-deb/emogi/build && dpkg-parsechangelog -S Version')" "$VERSION-1PIGSTY~bookworm"
}

check_recipes() {
    check 'Homebrew: the formula of the archive' make_formula
    check 'Homebrew: its install and test' formula_works
    check 'Pigsty: the row of the catalog' row_is_right
    check 'Pigsty: the spec' pigsty_spec_is_right
    check 'Pigsty: the RPM' pigsty_rpm_builds
    check 'Pigsty: the Makefile of the Debian package' pigsty_deb_is_set_up
}
