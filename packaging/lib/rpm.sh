# shellcheck shell=bash
# The kind `rpm` of packaging/check: the spec for RPM. Sourced by packaging/check, never run.

spec_is_clean() { in_root "$BUILD" rpmlint "/src/emogi-$VERSION/packaging/emogi.spec" | tee /dev/stderr | grep ' 0 errors'; }
spec_can_be_read() { in_root "$BUILD" rpmspec -q --define "pg_config /usr/lib/postgresql/15/bin/pg_config" --with cuda "/src/emogi-$VERSION/packaging/emogi.spec"; }

check_rpm() {
    check 'rpmlint' spec_is_clean
    check 'rpmspec reads it, with the module for GPUs' spec_can_be_read
}
