# shellcheck shell=bash
# Checks of kind `cuda` of packaging/check: the packages with the profile pkg.emogi.cuda. Sourced,
# not run.

build_cuda() {
    mkdir -p "$BUILD/usr/local/cuda" "$BUILD/src/cuda" && mount --bind -o ro "$(readlink -f /usr/local/cuda)" "$BUILD/usr/local/cuda" &&
        cp -a "$WORK/unpacked/emogi-$VERSION" "$BUILD/src/cuda/" && build_packages "cuda/emogi-$VERSION" -b -Ppkg.emogi.cuda
}
cuda_packages_are() {
    local debs
    debs=$(cd "$BUILD/src/cuda" && echo postgresql-*.deb | sed -E 's/[^ ]*-dbgsym_[^ ]* ?//g; s/ $//')
    same "$debs" "postgresql-15-emogi-cuda_$VERSION-1_$ARCH.deb $DEB" &&
        same "$(dpkg-deb -c "$BUILD/src/cuda/postgresql-15-emogi-cuda_$VERSION-1_$ARCH.deb" | grep -o '/usr/lib/.*[^/]$' | sort | tr '\n' ' ')" \
            '/usr/lib/postgresql/15/lib/emogi_cuda.so /usr/lib/postgresql/15/lib/emogi_papers.so ' &&
        ! dpkg-deb -c "$BUILD/src/cuda/$DEB" | grep -E '(cuda|papers)\.so'
}

# On a machine without a driver the module is loaded and reports that.
cuda_says_why() {
    local root=$WORK/cuda
    DEBS=("$BUILD/src/cuda"/*.deb)
    install_fresh "$root" "/deb/$DEB" "/deb/postgresql-15-emogi-cuda_$VERSION-1_$ARCH.deb" && preload "$root" &&
        psql_in "$root" -c 'CREATE EXTENSION emogi' || return
    for _ in $(seq 50); do
        [ "$(psql_in "$root" -c "SELECT count(*) FROM emogi_devices WHERE state = 'starting'")" != 0 ] || break
        sleep 0.2
    done
    psql_in "$root" -c "SELECT reason FROM emogi_devices WHERE engine = 'cuda'" | grep -i 'driver'
}

check_cuda() {
    [ -x /usr/local/cuda/bin/nvcc ] || { echo '  cuda: skipped: /usr/local/cuda/bin/nvcc does not exist'; return 0; }
    need 'Build with the profile pkg.emogi.cuda' build_cuda
    check 'Two packages, the module in one' cuda_packages_are
    check 'lintian' no_lint "/src/cuda/emogi_$VERSION-1_$ARCH.changes"
    check 'Installed, it reports why there is no GPU' cuda_says_why
}
