# shellcheck shell=bash
# Shell functions of quickstart and the programs in test/: packages, the server's account, the
# build, a private cluster. Sourced by bash, not run. A caller sets ROOT (the checkout) and LOG (the
# output of steps), calls setup_cleanup in its EXIT trap, and defines a function give_up that exits
# with a message about a failed step.
#
# Functions return a status and do not rely on `set -e`, which bash disables inside `if`.

export LC_ALL=C.UTF-8 PGCLIENTENCODING=UTF8
unset PGHOST PGHOSTADDR PGPORT PGUSER PGDATABASE PGSERVICE PGDATA PGPASSWORD PGSSLMODE PGAPPNAME

PG_MAJOR=${PG_MAJOR:-15}
PG_BINDIR=${PG_BINDIR:-/usr/lib/postgresql/$PG_MAJOR/bin}    # may be set to another installation
SETUP_NO_MAIN_CLUSTER=/etc/postgresql-common/createcluster.d/emogi-no-main-cluster.conf
SETUP_MADE_CONF=

die() { printf '\n%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Undo the effects of an interrupted installation.
setup_cleanup() {
    [ -z "$SETUP_MADE_CONF" ] || as_root rm -f "$SETUP_NO_MAIN_CLUSTER"
    SETUP_MADE_CONF=
}

# Run a command as a named step: its output is written to LOG, and its last lines to the screen if
# it fails.
step() {
    local title=$1 start=$SECONDS
    shift
    printf '  %-46s ' "$title"
    if "$@" >>"$LOG" 2>&1 </dev/null; then
        printf 'ok  %3d s\n' $((SECONDS - start))
        return 0
    fi
    printf 'FAILED\n\n'
    tail -n 30 "$LOG" | sed 's/^/    | /'
    return 1
}

am_root() { [ "$(id -u)" = 0 ]; }

# Run a command as root: directly, or through sudo.
as_root() {
    if am_root; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "this requires root or sudo: $*" >&2
        return 1
    fi
}

# Ask for sudo's password, if required, before a step hides the prompt.
ask_for_root() {
    am_root || as_root -n true 2>/dev/null || as_root -v
}

# ---------------------------------------------------------------------------------------------------- packages

# Print the given packages that are not installed.
missing_packages() {
    local package
    for package in "$@"; do
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -x installed >/dev/null ||
            printf '%s\n' "$package"
    done
}

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -o DPkg::Lock::Timeout=300 "$@"; }

apt_lists_present() { [ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -size +0 -print -quit 2>/dev/null)" ]; }

# Install packages. Package lists are updated first only if they are missing or too old. A partly
# failed update is ignored, because the installation reports missing packages.
apt_install() {
    apt_lists_present || apt_get update || true
    apt_get install -y --no-install-recommends "$@" && return
    apt_get update || true
    apt_get install -y --no-install-recommends "$@"
}

# The same, but prevent Debian from creating and starting a default cluster: a private one suffices.
apt_install_no_cluster() {
    local status=0
    if [ ! -e "$SETUP_NO_MAIN_CLUSTER" ] && [ ! -d "/etc/postgresql/$PG_MAJOR/main" ]; then
        SETUP_MADE_CONF=yes
        as_root mkdir -p "${SETUP_NO_MAIN_CLUSTER%/*}" &&
            echo 'create_main_cluster = false' | as_root tee "$SETUP_NO_MAIN_CLUSTER" || return
    fi
    apt_install "$@" || status=$?
    setup_cleanup
    return $status
}

# Configure apt with separate lists in FOLDER, of suites of Debian, leaving those of the machine
# unchanged. TYPE is deb or deb-src. Sets APT_OPTIONS to the options for apt-get and apt-cache.
apt_apart() {
    local folder=$1 type=$2 mirror suite
    shift 2
    apt_lists_present || apt_get update || true
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$') || return
    mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" || return
    for suite in "$@"; do
        echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
    done >"$folder/sources.list"
    APT_OPTIONS=(-q -o Dir::Etc::SourceList="$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$folder/lists"
        -o Dir::Cache="$folder/cache" -o Acquire::Retries=1 -o Acquire::http::Timeout=60)
}

# Install the missing ones of the given packages, none of which creates a cluster.
install_missing() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
}

# Install the missing ones of the given packages, as one step; prints nothing if all are installed.
install_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || die "cannot install ${missing[*]} without apt-get;" \
        "README.md describes a manual installation"
    ask_for_root || die "installing ${missing[*]} requires root or sudo"
    step "Install ${#missing[@]} packages and their dependencies" apt_install_no_cluster "${missing[@]}" ||
        give_up "could not install ${missing[*]}"
}

# Install a package that a test compares emogi with, if possible without asking; the test can do
# without it.
install_peer() {
    [ -n "$(missing_packages "$1")" ] || return 0
    am_root && apt-cache show "$1" >/dev/null 2>&1 || return 0
    step "Install $1 for comparison" apt_install_no_cluster "$1" || true
}

# Unpack a package into a folder, if possible without asking; further arguments are packages that it
# depends on. For programs started by a test: an installed package would start a service of the
# machine.
unpack_peer() {
    local folder=$1 package=$2
    shift 2
    mkdir -p "$folder" && install_missing "$@" && (cd "$folder" && apt_get download "$package" && dpkg-deb -x "$package"_*.deb . && chmod -R a+rX .)
}

# ------------------------------------------------------------------------------------------------------- build

# nvcc is looked up once, as the caller: root's PATH, with sudo, may differ. `NVCC= ./test/run`
# disables CUDA.
find_nvcc() { command -v nvcc || { [ ! -x /usr/local/cuda/bin/nvcc ] || echo /usr/local/cuda/bin/nvcc; }; }
NVCC=${NVCC-$(find_nvcc)}

# Run make in the checkout; with a first word `as_root`, as root.
emogi_make() {
    local who=()
    [ "$1" != as_root ] || { who=(as_root); shift; }
    "${who[@]}" make -C "$ROOT" --no-print-directory PG_CONFIG="$PG_BINDIR/pg_config" NVCC="$NVCC" "$@"
}

# Build with one job per CPU; further arguments are passed to make.
build_extension() { emogi_make -s -j"$(nproc)" "$@"; }

# The modules of the CUDA engine, if it is built.
cuda_modules() { [ -z "$NVCC" ] || echo emogi_cuda.so emogi_papers.so; }

# Remove the CUDA modules of an earlier build from the server's folder; further arguments precede
# rm.
remove_cuda_modules() {
    local lib
    lib=$("$PG_BINDIR/pg_config" --pkglibdir)
    "$@" rm -f "$lib/emogi_cuda.so" "$lib/emogi_papers.so"
}

# The files that `make install` installs into the server's folders, as "built installed" lines.
installed_pairs() {
    local lib share file
    lib=$("$PG_BINDIR/pg_config" --pkglibdir)
    share=$("$PG_BINDIR/pg_config" --sharedir)/extension
    echo "emogi.so $lib/emogi.so"
    for file in $(cuda_modules); do echo "$file $lib/$file"; done
    for file in emogi.control "$ROOT"/emogi--*.sql; do echo "${file##*/} $share/${file##*/}"; done
}

# Do the server's folders contain exactly this build? (CUDA modules of an earlier build count as a
# difference.)
installed_is_current() {
    local built installed
    [ -n "$NVCC" ] || [ ! -e "$("$PG_BINDIR/pg_config" --pkglibdir)/emogi_cuda.so" ] || return 1
    while read -r built installed; do
        cmp -s "$ROOT/$built" "$installed" || return 1
    done < <(installed_pairs)
}

# Install the build of build_extension.
install_extension() {
    [ -n "$NVCC" ] || remove_cuda_modules as_root
    emogi_make as_root install "$@"
}

# Describe in a few words how the CUDA modules were built.
cuda_note() { if [ -n "$NVCC" ]; then echo "with CUDA"; else echo "no nvcc: without CUDA"; fi; }

# Copy the PostgreSQL installation to FOLDER and set PG_BINDIR to the copy: its programs find their
# folders relative to their location. Later installations change only the copy.
copy_postgres() {
    local folder=$1 part
    for part in --bindir --sharedir --pkglibdir --includedir --includedir-server; do
        part=$("$PG_BINDIR/pg_config" "$part")
        [ -d "$part" ] && [ ! -d "$folder$part" ] || continue
        mkdir -p "$folder$part" && cp -a "$part/." "$folder$part/" || return
    done
    PG_BINDIR=$folder$("$PG_BINDIR/pg_config" --bindir)
    case $("$PG_BINDIR/pg_config" --pkglibdir)$("$PG_BINDIR/pg_config" --sharedir) in
        "$folder"/*"$folder"/*) ;;
        *) echo "the copy of PostgreSQL does not find its own folders" >&2; return 1 ;;
    esac
}

# Install the build of build_extension into a copy of the PostgreSQL installation in FOLDER, and set
# PG_BINDIR to it. Further arguments are passed to make.
install_privately() {
    copy_postgres "$1" && remove_cuda_modules && emogi_make -s install "${@:2}"
}

# Copy the checkout to a folder, without build results and test outputs.
copy_checkout() {
    mkdir "$1" && tar -cf - -C "$ROOT" --exclude=./.git --exclude='*.o' --exclude='*.d' --exclude='*.bc' --exclude='*.so' --exclude=./build \
        --exclude='./emogi--*.sql' --exclude=./results --exclude=./output_iso --exclude=./tmp_check --exclude=./log . | tar -xf - -C "$1"
}

# ----------------------------------------------------------------------------------------------------- cluster

# The account that servers run as: PostgreSQL refuses root, so root uses the package's account.
cluster_user() { if am_root; then echo postgres; else id -un; fi; }

# Run a command as that account, in a folder that it can enter (it may not have access to root's
# checkout).
as_cluster_user() {
    local folder=$1
    shift
    if am_root; then
        (cd "$folder" && exec setpriv --reuid=postgres --regid=postgres --init-groups \
            env HOME="$folder" USER=postgres LOGNAME=postgres "$@")
    else
        (cd "$folder" && exec "$@")
    fi
}

# Create FOLDER, for the server's account alone. Rejects a folder of another account, because
# /var/tmp and /tmp are writable by everybody.
cluster_folder() {
    local folder=$1 user owner
    user=$(cluster_user)
    mkdir -m 700 "$folder" 2>/dev/null && chown "$user" "$folder"
    owner=$(stat -c %U "$folder" 2>/dev/null) || { echo "could not make the folder $folder" >&2; return 1; }
    if [ "$owner" != "$user" ] || [ -L "$folder" ]; then
        echo "$folder belongs to $owner, not to $user" >&2
        return 1
    fi
    as_cluster_user / test -w "$folder" || { echo "$user cannot reach $folder" >&2; return 1; }
    [ ${#folder} -le 80 ] || { echo "$folder is too long for the path of a Unix socket" >&2; return 1; }
}

# Create a cluster in FOLDER/data with a superuser of the given name and its socket in FOLDER;
# further arguments are lines of postgresql.conf. FOLDER/data appears when it is complete, and not
# before.
cluster_create() {
    local folder=$1 superuser=$2
    shift 2
    as_cluster_user "$folder" rm -rf "$folder/data.new" || return
    as_cluster_user "$folder" "$PG_BINDIR/initdb" -D "$folder/data.new" -U "$superuser" -A trust -E UTF8 \
        --locale=C.UTF-8 || return
    {
        echo "# a private cluster of emogi"
        echo "listen_addresses = ''"
        echo "unix_socket_directories = '$folder'"
        echo "shared_preload_libraries = 'emogi'"
        printf '%s\n' "$@"
    } | as_cluster_user "$folder" tee -a "$folder/data.new/postgresql.conf" >/dev/null || return
    as_cluster_user "$folder" mv "$folder/data.new" "$folder/data"
}

cluster_running() { [ -d "$1/data" ] && as_cluster_user "$1" "$PG_BINDIR/pg_ctl" -D "$1/data" status >/dev/null; }

# Start the server of FOLDER; prints its output if it does not start.
cluster_start() {
    as_cluster_user "$1" "$PG_BINDIR/pg_ctl" -D "$1/data" -l "$1/server.log" -w -t 60 start && return
    as_cluster_user "$1" tail -n 30 "$1/server.log"
    return 1
}

cluster_stop() {
    ! cluster_running "$1" || as_cluster_user "$1" "$PG_BINDIR/pg_ctl" -D "$1/data" -m "${2:-fast}" -w -t 60 stop
}

# Stop every server whose data is in FOLDER, including those of interrupted TAP tests.
stop_servers_below() {
    local file pid
    while read -r file; do
        # a server's working directory is its data folder; in a container its process id differs
        pid=$(head -n 1 "$file") && [ "/proc/$pid/cwd" -ef "${file%/*}" ] && kill -QUIT "$pid" 2>/dev/null || continue
        for _ in $(seq 50); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
    done < <(find "$1" -name postmaster.pid 2>/dev/null)
}
