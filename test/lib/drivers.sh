# shellcheck shell=bash
# Tests of kind `drivers` of test/run: the drivers of Python and Java against a private server.
# Sourced, not run.

# Install the drivers: Java's from Debian, Python's into a folder of this run.
install_jdbc() { install_missing default-jdk-headless libpostgresql-jdbc-java python3-venv; }
install_python_drivers() {
    python3 -m venv "$WORK/venv" && timeout 300 "$WORK/venv/bin/pip" install --disable-pip-version-check -q -r "$ROOT/test/drivers/requirements.txt"
}

# Start a server that listens on TCP, as pgjdbc requires: on a free port of localhost, with a
# password.
start_drivers_server() {
    local folder=$WORK/drivers port
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])') || return
    drivers_password=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
    drivers_port=$port
    cluster_folder "$folder" &&
        cluster_create "$folder" "$(cluster_user)" "listen_addresses = '127.0.0.1'" "port = $port" "emogi.max_memory = '128MB'" &&
        as_cluster_user "$folder" sed -i -E 's/^(host.*)trust$/\1scram-sha-256/' data/pg_hba.conf && cluster_start "$folder" &&
        as_cluster_user "$folder" "$PG_BINDIR/psql" -X -q -v ON_ERROR_STOP=1 -h "$folder" -p "$port" -d postgres -f - <<END
ALTER ROLE "$(cluster_user)" PASSWORD '$drivers_password';
CREATE EXTENSION emogi;
CREATE TABLE edges (src int, dst int, weight float8, a int, b int);
INSERT INTO edges VALUES (1, 2, 0.5, 3, 4), (2, 7, 0.25, 4, 3), (42, 5, 0.5, 4, NULL);
END
}

# Run a program of test/drivers, or another that prints its counts in its last line, within
# DRIVER_LIMIT seconds, and add the counts.
run_driver_program() {
    local out=$WORK/$1.out status=0 ok bad
    local name=$1
    shift
    timeout --foreground "${DRIVER_LIMIT:-300}" "$@" >"$out" 2>&1 </dev/null || status=$?
    read -r ok bad < <(sed -nE 's/^[^ ]+: ([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$out" | tail -n 1) || true
    if [ -z "${bad:-}" ] || [ "$bad" != 0 ] || [ $status != 0 ]; then
        grep -E ' FAILED' "$out" | head -n 40 | sed 's/^/    | /' || true
        [ -n "${bad:-}" ] || show tail "$out" 20
    fi
    mkdir -p "$ROOT/log" && cp "$out" "$ROOT/log/" 2>/dev/null || true
    [ $status = 0 ] || [ "${bad:-0}" != 0 ] || bad=1
    add "$name" "${ok:-0}" "${bad:-1}"
}

run_drivers() {
    local python= java=
    ! install_or_skip 'drivers of Java' install_jdbc || java=yes
    ! install_or_skip 'drivers of Python' install_python_drivers || python=yes
    [ -n "$python$java" ] || return 0
    step 'Start a server for drivers' start_drivers_server || { add drivers 0 1; return 0; }
    [ -z "$python" ] || run_driver_program 'drivers of Python' "$WORK/venv/bin/python" "$ROOT/test/drivers/drivers.py" \
        "$WORK/drivers" "$drivers_port" "$(cluster_user)"
    [ -z "$java" ] || run_driver_program 'drivers of Java' java -cp /usr/share/java/postgresql.jar "$ROOT/test/drivers/Drivers.java" \
        "$drivers_port" "$(cluster_user)" "$drivers_password"
    cluster_stop "$WORK/drivers" >/dev/null
}
