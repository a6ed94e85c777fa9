# shellcheck shell=bash
# Checks of kind `rpm` of packaging/check: the RPM, built with Debian's server headers, and
# installed over Debian's server. Sourced, not run.
#
# Debian has rpm but no RPM packages, so dependencies are not resolved, neither for the build nor
# for the installation; only their names are checked.

RPM_DEFINES=(--define "_topdir /src/rpm" --define "pgprefix /usr/lib/postgresql/15")

spec_is_clean() { in_root "$BUILD" rpmlint "/src/emogi-$VERSION/packaging/emogi.spec" | tee /dev/stderr | grep ' 0 errors'; }
spec_can_be_read() { in_root "$BUILD" rpmspec -q "${RPM_DEFINES[@]}" --with cuda "/src/emogi-$VERSION/packaging/emogi.spec"; }

# The package and its source, from the published archive.
build_rpm() {
    rm -rf "$BUILD/src/rpm" && mkdir -p "$BUILD/src/rpm/SOURCES" && cp "$WORK/emogi-$VERSION.zip" "$BUILD/src/rpm/SOURCES/" &&
        root_install "$BUILD" unzip && own_source &&
        in_root_as "$BUILD" builder rpmbuild -ba --nodeps "${RPM_DEFINES[@]}" "/src/emogi-$VERSION/packaging/emogi.spec" && ls -l "$BUILD"/src/rpm/RPMS/*/* "$BUILD"/src/rpm/SRPMS/*
}
built_rpm() { (cd "$BUILD" && echo src/rpm/RPMS/*/"postgresql15-emogi-$VERSION"-1*.rpm); }

# It names the server and the required libraries, and contains the expected files.
rpm_is_right() {
    local rpm
    rpm=/$(built_rpm)
    in_root "$BUILD" rpm -qp --requires "$rpm" && in_root "$BUILD" rpm -qp --requires "$rpm" | grep -x postgresql15-server &&
        in_root "$BUILD" rpm -qp --requires "$rpm" | grep -F 'libpq.so.5()(64bit)' &&
        same "$(in_root "$BUILD" rpm -qpl "$rpm" | grep -vE '^/usr/share/(doc|licenses)/|/\.build-id|bitcode' | sort | tr '\n' ' ')" \
            "/usr/lib/postgresql/15/lib/emogi.so /usr/share/postgresql/15/extension/emogi--$VERSION.sql /usr/share/postgresql/15/extension/emogi.control "
}

# rpm installs it into a fresh root with a server and verifies its files, and a call is answered.
install_rpm() {
    local root=$WORK/rpm
    new_root "$root" && root_install "$root" postgresql-15 rpm && cp "$BUILD/$(built_rpm)" "$root/tmp/emogi.rpm" &&
        in_root "$root" rpm -i --nodeps /tmp/emogi.rpm && in_root "$root" rpm -V --nodeps postgresql15-emogi && in_root "$root" pg_ctlcluster 15 main start &&
        preload "$root" && psql_in "$root" -c 'CREATE EXTENSION emogi' \
            -c 'CREATE TABLE follows AS SELECT * FROM (VALUES (1, 2), (2, 3), (1, 4)) AS edges (src, dst)'
}

# Its files are gone after removal.
remove_rpm() {
    local root=$WORK/rpm
    in_root "$root" pg_conftool 15 main remove shared_preload_libraries && restart_in "$root" && in_root "$root" rpm -e postgresql15-emogi &&
        same "$(find "$root/usr" -xdev -iname '*emogi*')" '' && restart_in "$root"
}

check_rpm() {
    check 'rpmlint' spec_is_clean
    check 'rpmspec parses it, with the module for GPUs' spec_can_be_read
    need 'rpmbuild' build_rpm
    check 'It has its dependencies and files' rpm_is_right
    need 'rpm installs it over a server' install_rpm
    check 'A call is answered' answers "$WORK/rpm"
    check 'rpm removes it' remove_rpm
    leave_root "$WORK/rpm"
}
