# shellcheck shell=bash
# Tests of kind `examples` of test/run: programs of examples/ that compare their answers with a
# reference. Sourced, not run.

# Install the dependencies of examples/graphrag: the reference, into the folder in which it is
# expected, and pgvector, into the copy of PostgreSQL.
install_for_graphrag() {
    local venv=$WORK/graphrag/venv
    install_missing python3-venv && cluster_folder "$WORK/graphrag" && python3 -m venv "$venv" &&
        timeout 300 "$venv/bin/pip" install --disable-pip-version-check -q -r "$ROOT/examples/graphrag/requirements.txt" &&
        get_pgvector "$WORK/pgvector"
}

# Run the example as a user would, with a small corpus, in a folder of this run.
run_graphrag() {
    # shellcheck source=examples/graphrag/pgvector.sh
    . "$ROOT/examples/graphrag/pgvector.sh"
    install_or_skip 'example of retrieval' install_for_graphrag || return 0
    DRIVER_LIMIT=1200 run_driver_program 'example of retrieval' env PG_BINDIR="$PG_BINDIR" EMOGI_GRAPHRAG_DIR="$WORK/graphrag" EMOGI_GRAPHRAG_PACKAGES=1500 \
        "$ROOT/examples/graphrag/run"
    cluster_stop "$WORK/graphrag" >/dev/null
}

LIGHTRAG=1.5.7          # same version as in docs/graphrag.md

# Install the dependencies of examples/lightrag. LightRAG depends on a large part of the registry,
# so only its base class and the imports of that are installed.
install_for_lightrag() {
    local pip=$WORK/lightrag/bin/pip
    install_missing python3-venv && python3 -m venv "$WORK/lightrag" &&
        timeout 300 "$pip" install --disable-pip-version-check -q -r "$ROOT/examples/lightrag/requirements.txt"
}
install_lightrag_itself() {
    local pip=$WORK/lightrag/bin/pip
    timeout 300 "$pip" install --disable-pip-version-check -q --no-deps "lightrag-hku==$LIGHTRAG" &&
        timeout 300 "$pip" install --disable-pip-version-check -q json_repair httpx python-dotenv pydantic numpy &&
        (cd "$WORK" && lightrag/bin/python -c 'import lightrag.base, lightrag.kg.factory')
}

start_lightrag_server() {
    local folder=$WORK/lightrag-server
    cluster_folder "$folder" && cluster_create "$folder" "$(cluster_user)" 'fsync = off' "emogi.max_memory = '256MB'" && cluster_start "$folder"
}

run_lightrag() {
    install_or_skip 'example of LightRAG' install_for_lightrag || return 0
    install_or_skip "LightRAG's base class" install_lightrag_itself || true
    step 'Start a server for LightRAG' start_lightrag_server || { add 'example of LightRAG' 0 1; return 0; }
    run_driver_program 'example of LightRAG' env PYTHONDONTWRITEBYTECODE=1 PGHOST="$WORK/lightrag-server" PGUSER="$(cluster_user)" PGDATABASE=postgres \
        "$WORK/lightrag/bin/python" "$ROOT/examples/lightrag/test_storage.py"
    cluster_stop "$WORK/lightrag-server" >/dev/null
}

# Run both recipes for a managed server, each with two servers.
run_managed() {
    local recipe
    for recipe in subscriber foreign; do
        DRIVER_LIMIT=600 run_driver_program "example of a managed server, $recipe" env PG_BINDIR="$PG_BINDIR" EMOGI_MANAGED_DIR="$WORK/managed" \
            EMOGI_MANAGED_EDGES=50000 "$ROOT/examples/managed/run" $recipe
        EMOGI_MANAGED_DIR="$WORK/managed" "$ROOT/examples/managed/run" stop >/dev/null || true
    done
}

run_examples() {
    run_managed
    run_lightrag
    run_graphrag
}
