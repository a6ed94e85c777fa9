# shellcheck shell=bash
# Checks of kind `dist` of packaging/check: the archive for PGXN. Sourced, not run.

# The archive contains exactly the committed files, except those excluded by .gitattributes.
dist_is_complete() {
    local left_out
    left_out=$(sed -nE 's!^/([^ ]+) +export-ignore$!\1!p' "$WORK/clone/.gitattributes" | sed 's/\./\\./g' | paste -sd '|')
    diff <(cd "$WORK/unpacked/emogi-$VERSION" && find . \( -type f -o -type l \) -printf '%P\n' | sort) \
        <(git -C "$WORK/clone" ls-tree -r --name-only HEAD | grep -vE "^($left_out)(/|\$)" | sort)
}

make_dist() {
    git clone -q "$ROOT" "$WORK/clone" && make -C "$WORK/clone" NVCC= dist &&
        mv "$WORK/clone/emogi-$VERSION.zip" "$WORK/" && unzip -q "$WORK/emogi-$VERSION.zip" -d "$WORK/unpacked"
}

# pgxn can remove the files that it has installed from the archive.
pgxn_installs() {
    local files
    cp "$WORK/emogi-$VERSION.zip" "$BUILD/src/" && touch "$BUILD/src/before" &&
        in_root "$BUILD" env NVCC= pgxn install --yes --pg_config /usr/lib/postgresql/15/bin/pg_config "/src/emogi-$VERSION.zip" || return
    files=$(cd "$BUILD/usr" && find lib/postgresql share/postgresql -name 'emogi*' -not -path '*/bitcode/*' | sort | tr '\n' ' ')
    same "$files" "lib/postgresql/15/lib/emogi.so share/postgresql/15/extension/emogi--$VERSION.sql share/postgresql/15/extension/emogi.control " &&
        in_root "$BUILD" env NVCC= pgxn uninstall --yes --pg_config /usr/lib/postgresql/15/bin/pg_config "/src/emogi-$VERSION.zip" &&
        same "$(find "$BUILD/usr/lib/postgresql" "$BUILD/usr/share/postgresql" -name '*emogi*')" ''
}

check_dist() {
    check 'META.json' "$ROOT/packaging/meta"
    check 'The archive contains the committed files' dist_is_complete
    check 'pgxn installs and removes its files' pgxn_installs
}
