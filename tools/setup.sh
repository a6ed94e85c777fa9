# shellcheck shell=bash
# Shell functions of quickstart and the programs in test/: packages, the user a server runs as, the build, a private cluster.
# Sourced by bash, never run. A caller sets ROOT (the checkout) and LOG (where the output of steps goes), calls
# setup_cleanup in its EXIT trap, and has a function give_up that ends it with a word about a failed step.
#
# Functions answer by their exit status and do not rely on `set -e`, which bash switches off inside `if`.

export LC_ALL=C.UTF-8 PGCLIENTENCODING=UTF8
unset PGHOST PGHOSTADDR PGPORT PGUSER PGDATABASE PGSERVICE PGDATA PGPASSWORD PGSSLMODE PGAPPNAME

PG_MAJOR=${PG_MAJOR:-15}
PG_BINDIR=${PG_BINDIR:-/usr/lib/postgresql/$PG_MAJOR/bin}    # may be given: an installation of one's own
SETUP_NO_MAIN_CLUSTER=/etc/postgresql-common/createcluster.d/emogi-no-main-cluster.conf
SETUP_MADE_CONF=

die() { printf '\n%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Undo what an interrupted install left behind.
setup_cleanup() {
    [ -z "$SETUP_MADE_CONF" ] || as_root rm -f "$SETUP_NO_MAIN_CLUSTER"
    SETUP_MADE_CONF=
}

# Run a command as one named step: its output goes to LOG, and its last lines to the screen when it fails.
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
        echo "this needs root, and there is no sudo: $*" >&2
        return 1
    fi
}

# Ask for sudo's password, if it wants one, before a step hides the screen.
ask_for_root() {
    am_root || as_root -n true 2>/dev/null || as_root -v
}

# ---------------------------------------------------------------------------------------------------- packages

# Print those of the given packages that are not installed.
missing_packages() {
    local package
    for package in "$@"; do
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -x installed >/dev/null ||
            printf '%s\n' "$package"
    done
}

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -o DPkg::Lock::Timeout=300 "$@"; }

apt_lists_present() { [ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -size +0 -print -quit 2>/dev/null)" ]; }

# Install packages. Lists that are missing or too old to fetch by are renewed first, and then only. An update that fails
# for some source is no reason to stop: the install will tell.
apt_install() {
    apt_lists_present || apt_get update || true
    apt_get install -y --no-install-recommends "$@" && return
    apt_get update || true
    apt_get install -y --no-install-recommends "$@"
}

# The same, but keep Debian from making and starting its own cluster: a private one is all we need.
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

# Have apt work with lists of its own in FOLDER, of suites of Debian: those of the machine stay as they are. TYPE is deb or deb-src. What
# apt-get and apt-cache need for it is left in APT_OPTIONS.
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

# Install what is missing of the given packages, of which none makes a cluster.
install_missing() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
}

# Install what is missing of the given packages, as one step; nothing is printed when all are there.
install_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || die "there is no apt-get here to install ${missing[*]};" \
        "README.md says how to build and install by hand"
    ask_for_root || die "installing ${missing[*]} needs root or sudo"
    step "Install ${#missing[@]} packages and what they need" apt_install_no_cluster "${missing[@]}" ||
        give_up "could not install ${missing[*]}"
}

# Install a package that a test compares emogi with, if it can be had without asking; the test does without.
install_peer() {
    [ -n "$(missing_packages "$1")" ] || return 0
    am_root && apt-cache show "$1" >/dev/null 2>&1 || return 0
    step "Install $1, to compare with" apt_install_no_cluster "$1" || true
}

# Unpack a package below a folder, if it can be had without asking; further arguments are packages that it needs. For a program that a test starts
# by itself: installed, it would come as a service of the machine, and be started.
unpack_peer() {
    local folder=$1 package=$2
    shift 2
    mkdir -p "$folder" && install_missing "$@" && (cd "$folder" && apt_get download "$package" && dpkg-deb -x "$package"_*.deb . && chmod -R a+rX .)
}

# ------------------------------------------------------------------------------------------------------- build

# nvcc is looked up once, as the caller: root's PATH, behind sudo, may be another. `NVCC= ./test/run` does without.
find_nvcc() { command -v nvcc || { [ ! -x /usr/local/cuda/bin/nvcc ] || echo /usr/local/cuda/bin/nvcc; }; }
NVCC=${NVCC-$(find_nvcc)}

# make in the checkout; a first word `as_root` makes it root's.
emogi_make() {
    local who=()
    [ "$1" != as_root ] || { who=(as_root); shift; }
    "${who[@]}" make -C "$ROOT" --no-print-directory PG_CONFIG="$PG_BINDIR/pg_config" NVCC="$NVCC" "$@"
}

# Build with as many jobs as there are processors; further arguments go to make.
build_extension() { emogi_make -s -j"$(nproc)" "$@"; }

# The modules of the CUDA half, if it is built.
cuda_modules() { [ -z "$NVCC" ] || echo emogi_cuda.so emogi_papers.so; }

# Remove the modules of an earlier build's CUDA half from the server's folder; further arguments go before rm.
remove_cuda_modules() {
    local lib
    lib=$("$PG_BINDIR/pg_config" --pkglibdir)
    "$@" rm -f "$lib/emogi_cuda.so" "$lib/emogi_papers.so"
}

# The files that `make install` puts into the server's folders, as "built installed" lines.
installed_pairs() {
    local lib share file
    lib=$("$PG_BINDIR/pg_config" --pkglibdir)
    share=$("$PG_BINDIR/pg_config" --sharedir)/extension
    echo "emogi.so $lib/emogi.so"
    for file in $(cuda_modules); do echo "$file $lib/$file"; done
    for file in emogi.control "$ROOT"/emogi--*.sql; do echo "${file##*/} $share/${file##*/}"; done
}

# Do the server's folders hold this very build? (A CUDA half of an earlier build counts as a difference.)
installed_is_current() {
    local built installed
    [ -n "$NVCC" ] || [ ! -e "$("$PG_BINDIR/pg_config" --pkglibdir)/emogi_cuda.so" ] || return 1
    while read -r built installed; do
        cmp -s "$ROOT/$built" "$installed" || return 1
    done < <(installed_pairs)
}

# Install what build_extension built.
install_extension() {
    [ -n "$NVCC" ] || remove_cuda_modules as_root
    emogi_make as_root install "$@"
}

# How the CUDA half was built, in a few words.
cuda_note() { if [ -n "$NVCC" ]; then echo "with CUDA"; else echo "no nvcc: without CUDA"; fi; }

# Copy the PostgreSQL installation below FOLDER and have PG_BINDIR name the copy: its programs find their folders by where
# they lie themselves. What is installed from then on touches nothing but the copy.
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

# Install what build_extension built into a copy of the PostgreSQL installation below FOLDER, which PG_BINDIR names from then on. Further
# arguments go to make.
install_privately() {
    copy_postgres "$1" && remove_cuda_modules && emogi_make -s install "${@:2}"
}

# Copy the checkout to a folder, without what was built or printed there.
copy_checkout() {
    mkdir "$1" && tar -cf - -C "$ROOT" --exclude=./.git --exclude='*.o' --exclude='*.d' --exclude='*.bc' --exclude='*.so' --exclude=./build \
        --exclude='./emogi--*.sql' --exclude=./results --exclude=./output_iso --exclude=./tmp_check --exclude=./log . | tar -xf - -C "$1"
}

# ----------------------------------------------------------------------------------------------------- cluster

# The account a server runs as: PostgreSQL refuses root, so root lends the package's account.
cluster_user() { if am_root; then echo postgres; else id -un; fi; }

# Run a command as that account, in a folder that it can enter (root's checkout may be closed to it).
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

# Make FOLDER, for the server's account alone. A folder of anybody else is refused: /var/tmp and /tmp are everybody's.
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

# Make a cluster in FOLDER/data with a superuser of the given name, whose socket lies in FOLDER; further arguments are
# lines of postgresql.conf. FOLDER/data appears when it is complete, and not before.
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

# Start the server of FOLDER; what it said goes to stdout when it does not come up.
cluster_start() {
    as_cluster_user "$1" "$PG_BINDIR/pg_ctl" -D "$1/data" -l "$1/server.log" -w -t 60 start && return
    as_cluster_user "$1" tail -n 30 "$1/server.log"
    return 1
}

cluster_stop() {
    ! cluster_running "$1" || as_cluster_user "$1" "$PG_BINDIR/pg_ctl" -D "$1/data" -m "${2:-fast}" -w -t 60 stop
}

# Stop every server whose data lie below FOLDER, also those of TAP tests that were interrupted.
stop_servers_below() {
    local file pid
    while read -r file; do
        # a server's working directory is its data folder: in a container, its process has another number
        pid=$(head -n 1 "$file") && [ "/proc/$pid/cwd" -ef "${file%/*}" ] && kill -QUIT "$pid" 2>/dev/null || continue
        for _ in $(seq 50); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
    done < <(find "$1" -name postmaster.pid 2>/dev/null)
}
