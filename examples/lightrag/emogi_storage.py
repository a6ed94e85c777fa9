"""LightRAG's graph of entities and relations in two plain tables of PostgreSQL, whose degrees and neighbourhoods emogi answers.

    import emogi_storage
    emogi_storage.register()
    rag = LightRAG(graph_storage="EmogiGraphStorage", ...)

The connection is EMOGI_LIGHTRAG_CONNINFO, or else what libpq's environment says (PGHOST, PGDATABASE, ...). The database has the extension emogi.
Each workspace is a schema; one without a name is "default". All writes are committed when they return, so index_done_callback has nothing to do.

Several processes may write at once. A write locks nodes before edges, and each in order, so that no two wait for each other; what fails all the
same because of another write is done again. A storage belongs to one event loop.

An edge leads either way: it is one row, whose src comes before its dst in the order of code points. What is written to a node or an edge
that is there is merged into it, and an edge makes the nodes that it needs, as in LightRAG's storage of networkx. A loop counts once for a degree.
"""

import asyncio
import json
import os
import random
import re
from dataclasses import dataclass, field
from typing import Any

from psycopg import errors, sql
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool

try:
    from lightrag.base import BaseGraphStorage
    from lightrag.types import KnowledgeGraph, KnowledgeGraphEdge, KnowledgeGraphNode
except ImportError:     # without LightRAG the storage can be used, and tested, all the same

    @dataclass
    class BaseGraphStorage:
        namespace: str
        workspace: str
        global_config: dict[str, Any]
        embedding_func: Any

    @dataclass
    class KnowledgeGraphNode:
        id: str
        labels: list[str]
        properties: dict[str, Any]

    @dataclass
    class KnowledgeGraphEdge:
        id: str
        type: str | None
        source: str
        target: str
        properties: dict[str, Any]

    @dataclass
    class KnowledgeGraph:
        nodes: list[KnowledgeGraphNode] = field(default_factory=list)
        edges: list[KnowledgeGraphEdge] = field(default_factory=list)
        is_truncated: bool = False


TABLES = [
    'CREATE TABLE IF NOT EXISTS {node} (id text COLLATE "C" PRIMARY KEY, data jsonb NOT NULL)',
    """CREATE TABLE IF NOT EXISTS {edge} (
        src  text COLLATE "C" NOT NULL REFERENCES {node} ON DELETE CASCADE,
        dst  text COLLATE "C" NOT NULL REFERENCES {node} ON DELETE CASCADE,
        data jsonb NOT NULL,
        PRIMARY KEY (src, dst),
        CHECK (src <= dst)
    )""",
    "CREATE INDEX IF NOT EXISTS {edge_dst} ON {edge} (dst)",
]

# Two names are one row of an index, which holds 2,704 bytes.
MOST_BYTES = 1300

ATTEMPTS = 10
STRING_OR_LARGE_FLOAT = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9.]+e\+[0-9]+')


class NodeIsGone(Exception):
    """Another session has removed a node between the two statements that make and lock it."""


IN_EACH_OTHERS_WAY = (errors.SerializationFailure, errors.DeadlockDetected, errors.ForeignKeyViolation, NodeIsGone)


def dumps(data: dict) -> str:
    """Get the JSON of data. NaN and infinities are not JSON; PostgreSQL would refuse them with a word about a token."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False)
    # PostgreSQL writes 1e+22 out, and then it is an integer; with a fraction it stays a float.
    return STRING_OR_LARGE_FLOAT.sub(lambda found: found[0] if found[0][0] == '"' else f"{float(found[0]):.1f}", text) if "e+" in text else text


def texts(names) -> list[str]:
    """Get names as a list; what is no text would be stored as one, and not be found again."""
    names = list(names)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"the name {name!r} is no str")
    return names


def storable(names) -> list[str]:
    """The same of names that are written."""
    names = texts(names)
    for name in names:
        if len(name.encode()) > MOST_BYTES:
            raise ValueError(f"the name {name[:40]!r}... has {len(name.encode())} bytes, and {MOST_BYTES} are the most")
    return names


def stored(data: dict) -> Jsonb:
    """Get data as they are written. A list or None would be merged into something that is no dict."""
    if not isinstance(data, dict):
        raise TypeError(f"the data {data!r} are no dict")
    return Jsonb(data, dumps=dumps)


def ends(one: str, other: str) -> tuple[str, str]:
    """Get the ends of an edge as they are stored."""
    return (one, other) if one <= other else (other, one)


@dataclass
class EmogiGraphStorage(BaseGraphStorage):
    """The storage. Make one, await initialize(), and await finalize() at the end."""

    pool: AsyncConnectionPool | None = field(default=None, init=False, repr=False)
    loop: asyncio.AbstractEventLoop | None = field(default=None, init=False, repr=False)

    def __post_init__(self):
        schema = "lightrag_" + (self.workspace or "default")
        for name in (schema, self.namespace + "_edge_dst"):
            if len(name.encode()) > 63:
                raise ValueError(f"{name} is too long for a name in PostgreSQL")
        self.schema = schema
        self.graph = sql.Identifier(schema, self.namespace + "_edge").as_string(None) + "(src, dst)"
        self.last_made = sql.Identifier(schema, self.namespace + "_edge_dst").as_string(None)

        def identifier(*names):
            return sql.Identifier(*(name.replace("%", "%%") for name in names))     # psycopg takes a single one for a parameter

        self.names = {
            "schema": identifier(schema),
            "node": identifier(schema, self.namespace + "_node"),
            "edge": identifier(schema, self.namespace + "_edge"),
            "edge_dst": identifier(self.namespace + "_edge_dst"),
        }

    # ------------------------------------------------------------------------------------------------ connections

    async def initialize(self):
        if self.pool is not None:
            if self.loop is asyncio.get_running_loop():
                return
            self.refuse_other_loop()
        pool = AsyncConnectionPool(os.environ.get("EMOGI_LIGHTRAG_CONNINFO", ""), min_size=1, max_size=8, open=False, kwargs={"autocommit": True},
                                   check=AsyncConnectionPool.check_connection)      # a server that was started again has closed those of before
        await pool.open(wait=True, timeout=30)
        try:
            async with pool.connection() as db, db.transaction():
                await self.make_tables(db)
        except BaseException:
            await pool.close()
            raise
        self.pool, self.loop = pool, asyncio.get_running_loop()

    async def make_tables(self, db):
        """Make what is not there. IF NOT EXISTS would ask for the right to make it also where it is."""
        await db.execute("SET LOCAL client_min_messages = warning")
        await db.execute("SELECT pg_advisory_xact_lock(hashtext('emogi lightrag'))")    # several processes may begin at once
        await db.execute("CREATE EXTENSION IF NOT EXISTS emogi")
        emogi, = await (await db.execute("SELECT nspname FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace WHERE extname = 'emogi'")).fetchone()
        for name, function in (("degree_of", "emogi_degree_text"), ("reached_from", "emogi_bfs")):      # whose schema need not be in the search_path
            self.names[name] = sql.Identifier(emogi.replace("%", "%%"), function)
        collation = await (await db.execute("SELECT FROM pg_collation WHERE collname = 'und-x-icu' AND collnamespace = 'pg_catalog'::regnamespace")).fetchone()
        self.names["letters"] = sql.Identifier("pg_catalog", "default" if collation is None else "und-x-icu")
        if await (await db.execute("SELECT FROM pg_namespace WHERE nspname = %s", [self.schema])).fetchone() is None:
            await db.execute(self.statement("CREATE SCHEMA {schema}"), {})
        elif (await (await db.execute("SELECT to_regclass(%s)", [self.last_made])).fetchone())[0] is not None:
            return
        for text in TABLES:
            await db.execute(self.statement(text), {})

    async def finalize(self):
        if self.pool is not None:
            if self.loop is not asyncio.get_running_loop():
                self.refuse_other_loop()
            pool, loop, self.pool, self.loop = self.pool, self.loop, None, None
            if loop is asyncio.get_running_loop():
                await pool.close()      # the connections of a loop that has ended cannot be waited for

    def refuse_other_loop(self):
        """Raise an error where the loop in which the storage was opened still runs."""
        if self.loop.is_running():
            raise RuntimeError("the storage is open in another event loop: make one for each loop")

    def connection(self):
        """Get a connection of the pool."""
        if self.pool is None:
            raise RuntimeError("the storage is not open: await initialize() first")
        if self.loop is not asyncio.get_running_loop():
            self.refuse_other_loop()
            raise RuntimeError("the event loop in which the storage was opened has ended: await initialize() in this one")
        return self.pool.connection()

    def statement(self, text: str) -> sql.Composed:
        """Put the names of the tables into a statement."""
        return sql.SQL(text).format(**self.names)

    async def again(self, work):
        """Get what work returns, in one transaction; do it again where another session was in its way."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                async with self.connection() as db, db.transaction(), db.cursor() as cursor:
                    return await work(cursor)
            except IN_EACH_OTHERS_WAY:
                if attempt == ATTEMPTS:
                    raise
            await asyncio.sleep(random.uniform(0, 0.01 * 2**attempt))

    async def rows(self, text: str, **values) -> list[tuple]:
        async def read(cursor):
            return await (await cursor.execute(self.statement(text), values)).fetchall()

        return await self.again(read)

    async def run(self, text: str, many: list[dict]):
        """Run a statement in one transaction, once for each of its values."""
        async def write(cursor):
            await cursor.executemany(self.statement(text), many)

        if many:
            await self.again(write)

    async def lock(self, cursor, nodes: list[str], how: str) -> list[str]:
        """Lock nodes, in one order in all sessions; get those that are there."""
        await cursor.execute(self.statement("SELECT id FROM {node} WHERE id = ANY(%(ids)s) ORDER BY id FOR " + how), {"ids": nodes})
        return [row[0] for row in await cursor.fetchall()]

    # --------------------------------------------------------------------------------------------- nodes and edges

    async def has_node(self, node_id: str) -> bool:
        return bool(await self.has_nodes_batch([node_id]))

    async def has_nodes_batch(self, node_ids: list[str]) -> set[str]:
        return {row[0] for row in await self.rows("SELECT id FROM {node} WHERE id = ANY(%(ids)s)", ids=texts(node_ids))}

    async def has_edge(self, source_node_id: str, target_node_id: str) -> bool:
        return await self.get_edge(source_node_id, target_node_id) is not None

    async def get_node(self, node_id: str) -> dict[str, str] | None:
        return (await self.get_nodes_batch([node_id])).get(node_id)

    async def get_nodes_batch(self, node_ids: list[str]) -> dict[str, dict]:
        return dict(await self.rows("SELECT id, data FROM {node} WHERE id = ANY(%(ids)s)", ids=texts(node_ids)))

    async def get_edge(self, source_node_id: str, target_node_id: str) -> dict[str, str] | None:
        return (await self.get_edges_batch([{"src": source_node_id, "tgt": target_node_id}])).get((source_node_id, target_node_id))

    async def get_edges_batch(self, pairs: list[dict[str, str]]) -> dict[tuple[str, str], dict]:
        asked = [(pair["src"], pair["tgt"]) for pair in pairs]
        texts(name for pair in asked for name in pair)
        ordered = [ends(*pair) for pair in asked]
        found = {(src, dst): data for src, dst, data in await self.rows(
            "SELECT src, dst, data FROM {edge} JOIN unnest(%(src)s::text[], %(dst)s::text[]) AS asked (src, dst) USING (src, dst)",
            src=[pair[0] for pair in ordered], dst=[pair[1] for pair in ordered])}
        return {pair: found[ends(*pair)] for pair in asked if ends(*pair) in found}

    async def get_node_edges(self, source_node_id: str) -> list[tuple[str, str]] | None:
        edges = (await self.get_nodes_edges_batch([source_node_id]))[source_node_id]
        return edges if edges or await self.has_node(source_node_id) else None

    async def get_nodes_edges_batch(self, node_ids: list[str]) -> dict[str, list[tuple[str, str]]]:
        edges = {node: [] for node in texts(node_ids)}
        for node, other in await self.rows(
                "SELECT src, dst FROM {edge} WHERE src = ANY(%(ids)s) UNION ALL SELECT dst, src FROM {edge} WHERE dst = ANY(%(ids)s) AND src <> dst ORDER BY 1, 2",
                ids=list(edges)):
            edges[node].append((node, other))
        return edges

    async def upsert_node(self, node_id: str, node_data: dict[str, str]) -> None:
        await self.upsert_nodes_batch([(node_id, node_data)])

    async def upsert_nodes_batch(self, nodes: list[tuple[str, dict[str, str]]]) -> None:
        storable(node for node, _ in nodes)
        # In one order in all sessions, so that two of them cannot wait for each other.
        await self.run("INSERT INTO {node} AS n VALUES (%(id)s, %(data)s) ON CONFLICT (id) DO UPDATE SET data = n.data || excluded.data",
                       [{"id": node, "data": stored(data)} for node, data in sorted(nodes, key=lambda row: row[0])])

    async def upsert_edge(self, source_node_id: str, target_node_id: str, edge_data: dict[str, str]) -> None:
        await self.upsert_edges_batch([(source_node_id, target_node_id, edge_data)])

    async def upsert_edges_batch(self, edges: list[tuple[str, str, dict[str, str]]]) -> None:
        storable(name for one, other, _ in edges for name in (one, other))
        rows = sorted(((*ends(one, other), stored(data)) for one, other, data in edges), key=lambda row: row[:2])
        nodes = sorted({node for row in rows for node in row[:2]})

        async def write(cursor):
            await cursor.executemany(self.statement("INSERT INTO {node} VALUES (%(id)s, %(data)s) ON CONFLICT DO NOTHING"),
                                     [{"id": node, "data": stored({"entity_id": node})} for node in nodes])
            if len(await self.lock(cursor, nodes, "KEY SHARE")) < len(nodes):
                raise NodeIsGone
            await cursor.executemany(
                self.statement("INSERT INTO {edge} AS e VALUES (%(src)s, %(dst)s, %(data)s) ON CONFLICT (src, dst) DO UPDATE SET data = e.data || excluded.data"),
                [{"src": src, "dst": dst, "data": data} for src, dst, data in rows])

        if rows:
            await self.again(write)

    async def delete_node(self, node_id: str) -> None:
        await self.remove_nodes([node_id])

    async def remove_nodes(self, nodes: list[str]):
        nodes = texts(nodes)

        async def write(cursor):
            # Edges before the nodes, for the foreign keys would delete them in an order of their own.
            values = {"ids": await self.lock(cursor, nodes, "UPDATE")}
            await cursor.execute(self.statement("SELECT FROM {edge} WHERE src = ANY(%(ids)s) OR dst = ANY(%(ids)s) ORDER BY src, dst FOR UPDATE"), values)
            await cursor.execute(self.statement("DELETE FROM {node} WHERE id = ANY(%(ids)s)"), values)

        if nodes:
            await self.again(write)

    async def remove_edges(self, edges: list[tuple[str, str]]):
        edges = [tuple(edge) for edge in edges]
        nodes = texts({name for edge in edges for name in edge})
        rows = sorted({ends(*edge) for edge in edges})

        async def write(cursor):
            await self.lock(cursor, nodes, "KEY SHARE")
            await cursor.executemany(self.statement("DELETE FROM {edge} WHERE (src, dst) = (%(src)s, %(dst)s)"), [{"src": src, "dst": dst} for src, dst in rows])

        if rows:
            await self.again(write)

    async def get_all_nodes(self) -> list[dict]:
        return [{**data, "id": node} for node, data in await self.rows("SELECT id, data FROM {node} ORDER BY id")]

    async def get_all_edges(self) -> list[dict]:
        return [{**data, "source": src, "target": dst} for src, dst, data in await self.rows("SELECT src, dst, data FROM {edge} ORDER BY src, dst")]

    # ------------------------------------------------------------------------------------- what emogi answers

    async def node_degree(self, node_id: str) -> int:
        return (await self.node_degrees_batch([node_id]))[node_id]

    async def node_degrees_batch(self, node_ids: list[str]) -> dict[str, int]:
        found = dict(await self.rows("SELECT vertex, degree FROM {degree_of}(%(graph)s, 'both') WHERE vertex = ANY(%(ids)s)", graph=self.graph, ids=texts(node_ids)))
        return {node: found.get(node, 0) for node in node_ids}

    async def edge_degree(self, src_id: str, tgt_id: str) -> int:
        return (await self.edge_degrees_batch([(src_id, tgt_id)]))[src_id, tgt_id]

    async def edge_degrees_batch(self, edge_pairs: list[tuple[str, str]]) -> dict[tuple[str, str], int]:
        degrees = await self.node_degrees_batch(list({node for pair in edge_pairs for node in pair}))
        return {(src, tgt): degrees[src] + degrees[tgt] for src, tgt in edge_pairs}

    async def get_all_labels(self) -> list[str]:
        return [row[0] for row in await self.rows("SELECT id FROM {node} ORDER BY id")]

    async def get_popular_labels(self, limit: int = 300) -> list[str]:
        # A limit below 0 leaves that many out at the end, as where a list is cut in Python.
        most = limit if limit >= 0 else None
        found = [row[0] for row in await self.rows(
            "SELECT vertex FROM {degree_of}(%(graph)s, 'both') ORDER BY degree DESC, vertex COLLATE \"C\" LIMIT %(most)s", graph=self.graph, most=most)]
        if most is None or len(found) < most:
            found += [row[0] for row in await self.rows("SELECT id FROM {node} WHERE id <> ALL(%(found)s) ORDER BY id LIMIT %(more)s",
                                                        found=found, more=None if most is None else most - len(found))]
        return found[:limit]

    async def search_labels(self, query: str, limit: int = 50) -> list[str]:
        """Get labels that contain the query: the same first, then those that begin with it, then short ones and those that have it at a word's beginning."""
        query, = texts([query.strip()])
        if not query:
            return []
        return [row[0] for row in await self.rows(
            """SELECT id FROM {node}, lower(id COLLATE {letters}) AS label, lower(%(query)s COLLATE {letters}) AS query WHERE strpos(label, query) > 0
            ORDER BY CASE WHEN label = query THEN 1000 WHEN starts_with(label, query) THEN 500
                ELSE 100 - length(id) + CASE WHEN strpos(label, ' ' || query) > 0 OR strpos(label, '_' || query) > 0 THEN 50 ELSE 0 END END DESC, id
            LIMIT %(most)s""", query=query, most=limit if limit >= 0 else None)][:limit]

    async def get_knowledge_graph(self, node_label: str, max_depth: int = 3, max_nodes: int | None = None) -> KnowledgeGraph:
        """Get the nodes around a node, the nearest first and of equally near ones those of the highest degree, with all edges among them."""
        most = self.global_config.get("max_graph_nodes", 1000)
        most = max(most if max_nodes is None else min(max_nodes, most), 0)
        texts([node_label])
        reached = ("SELECT id, 0 AS level FROM {node}" if node_label == "*" else
                   # A node without edges is no vertex of the graph.
                   "SELECT id, 0 AS level FROM {node} WHERE id = %(label)s UNION "
                   "SELECT vertex, level FROM {reached_from}(%(graph)s::text, %(label)s::text, %(depth)s::int, 'both') WHERE level > 0")
        nodes = await self.rows(
            """WITH best AS (
                SELECT id, level, degree FROM (""" + reached + """) AS reached LEFT JOIN {degree_of}(%(graph)s, 'both') ON vertex = id
                ORDER BY level, degree DESC NULLS LAST, id COLLATE "C" LIMIT %(most)s + 1)
            SELECT id, data FROM best JOIN {node} USING (id) ORDER BY level, degree DESC NULLS LAST, id COLLATE "C" """,
            graph=self.graph, label=node_label, depth=max(max_depth, 0), most=most)
        kept = [row[0] for row in nodes[:most]]
        edges = await self.rows("SELECT src, dst, data FROM {edge} WHERE src = ANY(%(ids)s) AND dst = ANY(%(ids)s) ORDER BY src, dst", ids=kept)
        return KnowledgeGraph(
            nodes=[KnowledgeGraphNode(id=node, labels=[node], properties=data) for node, data in nodes[:most]],
            edges=[KnowledgeGraphEdge(id=f"{src}-{dst}", type="DIRECTED", source=src, target=dst, properties=data) for src, dst, data in edges],
            is_truncated=len(nodes) > most)

    # ------------------------------------------------------------------------------------------------------ the whole

    async def index_done_callback(self) -> None:
        """Do nothing: all that was written is committed."""

    async def drop(self) -> dict[str, str]:
        try:
            await self.run("TRUNCATE {node}, {edge}", [{}])
        except Exception as error:
            return {"status": "error", "message": str(error)}
        return {"status": "success", "message": "data dropped"}


def register():
    """Have LightRAG know the storage by its name."""
    from lightrag import kg

    name = EmogiGraphStorage.__name__
    if name not in kg.STORAGES:
        kg.STORAGE_IMPLEMENTATIONS["GRAPH_STORAGE"]["implementations"].append(name)
        kg.STORAGE_ENV_REQUIREMENTS[name] = []
        kg.STORAGES[name] = __name__
