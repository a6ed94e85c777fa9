"""LightRAG's graph of entities and relations in two plain tables of PostgreSQL, whose degrees and neighbourhoods emogi answers.

    import emogi_storage
    emogi_storage.register()
    rag = LightRAG(graph_storage="EmogiGraphStorage", ...)

The connection is EMOGI_LIGHTRAG_CONNINFO, or else what libpq's environment says (PGHOST, PGDATABASE, ...). The database has the extension emogi.
Each workspace is a schema. All writes are committed when they return, so index_done_callback has nothing to do.

An edge leads either way: it is one row, whose src comes before its dst in the order of code points. What is written to a node or an edge
that is there is merged into it, and an edge makes the nodes that it needs, as in LightRAG's storage of networkx. A loop counts once for a degree.
"""

import functools
import json
import os
from dataclasses import dataclass, field
from typing import Any

from psycopg import sql
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


TABLES = """
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {node} (id text COLLATE "C" PRIMARY KEY, data jsonb NOT NULL);
CREATE TABLE IF NOT EXISTS {edge} (
    src  text COLLATE "C" NOT NULL REFERENCES {node} ON DELETE CASCADE,
    dst  text COLLATE "C" NOT NULL REFERENCES {node} ON DELETE CASCADE,
    data jsonb NOT NULL,
    PRIMARY KEY (src, dst),
    CHECK (src <= dst)
);
CREATE INDEX IF NOT EXISTS {edge_dst} ON {edge} (dst);
"""

# NaN and infinities are not JSON; PostgreSQL would refuse them with a word about a token.
dumps = functools.partial(json.dumps, allow_nan=False, ensure_ascii=False)


def ends(one: str, other: str) -> tuple[str, str]:
    """Get the ends of an edge as they are stored."""
    return (one, other) if one <= other else (other, one)


@dataclass
class EmogiGraphStorage(BaseGraphStorage):
    """The storage. Make one, await initialize(), and await finalize() at the end."""

    pool: AsyncConnectionPool | None = field(default=None, init=False, repr=False)

    def __post_init__(self):
        schema = "lightrag_" + (self.workspace or "default")
        for name in (schema, self.namespace + "_edge_dst"):
            if len(name.encode()) > 63:
                raise ValueError(f"{name} is too long for a name in PostgreSQL")
        self.names = {
            "schema": sql.Identifier(schema),
            "node": sql.Identifier(schema, self.namespace + "_node"),
            "edge": sql.Identifier(schema, self.namespace + "_edge"),
            "edge_dst": sql.Identifier(self.namespace + "_edge_dst"),
        }
        self.graph = self.names["edge"].as_string(None) + "(src, dst)"

    # ------------------------------------------------------------------------------------------------ connections

    async def initialize(self):
        if self.pool is not None:
            return
        pool = AsyncConnectionPool(os.environ.get("EMOGI_LIGHTRAG_CONNINFO", ""), min_size=1, max_size=8, open=False, kwargs={"autocommit": True})
        await pool.open(wait=True, timeout=30)
        try:
            async with pool.connection() as db, db.transaction():
                await db.execute("SET LOCAL client_min_messages = warning")
                await db.execute("SELECT pg_advisory_xact_lock(hashtext('emogi lightrag'))")    # several processes may begin at once
                await db.execute("CREATE EXTENSION IF NOT EXISTS emogi")
                await db.execute(self.statement(TABLES))
        except BaseException:
            await pool.close()
            raise
        self.pool = pool

    async def finalize(self):
        if self.pool is not None:
            pool, self.pool = self.pool, None
            await pool.close()

    def statement(self, text: str) -> sql.Composed:
        """Put the names of the tables into a statement."""
        return sql.SQL(text).format(**self.names)

    async def rows(self, text: str, **values) -> list[tuple]:
        async with self.pool.connection() as db:
            return await (await db.execute(self.statement(text), values)).fetchall()

    async def run(self, *statements: tuple[str, list[dict]]):
        """Run statements in one transaction, each once for each of its values."""
        async with self.pool.connection() as db, db.transaction(), db.cursor() as cursor:
            for text, many in statements:
                if many:
                    await cursor.executemany(self.statement(text), many)

    # --------------------------------------------------------------------------------------------- nodes and edges

    async def has_node(self, node_id: str) -> bool:
        return bool(await self.has_nodes_batch([node_id]))

    async def has_nodes_batch(self, node_ids: list[str]) -> set[str]:
        return {row[0] for row in await self.rows("SELECT id FROM {node} WHERE id = ANY(%(ids)s)", ids=list(node_ids))}

    async def has_edge(self, source_node_id: str, target_node_id: str) -> bool:
        return await self.get_edge(source_node_id, target_node_id) is not None

    async def get_node(self, node_id: str) -> dict[str, str] | None:
        return (await self.get_nodes_batch([node_id])).get(node_id)

    async def get_nodes_batch(self, node_ids: list[str]) -> dict[str, dict]:
        return dict(await self.rows("SELECT id, data FROM {node} WHERE id = ANY(%(ids)s)", ids=list(node_ids)))

    async def get_edge(self, source_node_id: str, target_node_id: str) -> dict[str, str] | None:
        return (await self.get_edges_batch([{"src": source_node_id, "tgt": target_node_id}])).get((source_node_id, target_node_id))

    async def get_edges_batch(self, pairs: list[dict[str, str]]) -> dict[tuple[str, str], dict]:
        asked = [(pair["src"], pair["tgt"]) for pair in pairs]
        stored = [ends(*pair) for pair in asked]
        found = {(src, dst): data for src, dst, data in await self.rows(
            "SELECT src, dst, data FROM {edge} JOIN unnest(%(src)s::text[], %(dst)s::text[]) AS asked (src, dst) USING (src, dst)",
            src=[pair[0] for pair in stored], dst=[pair[1] for pair in stored])}
        return {pair: found[ends(*pair)] for pair in asked if ends(*pair) in found}

    async def get_node_edges(self, source_node_id: str) -> list[tuple[str, str]] | None:
        edges = (await self.get_nodes_edges_batch([source_node_id]))[source_node_id]
        return edges if edges or await self.has_node(source_node_id) else None

    async def get_nodes_edges_batch(self, node_ids: list[str]) -> dict[str, list[tuple[str, str]]]:
        edges = {node: [] for node in node_ids}
        for node, other in await self.rows(
                "SELECT src, dst FROM {edge} WHERE src = ANY(%(ids)s) UNION ALL SELECT dst, src FROM {edge} WHERE dst = ANY(%(ids)s) AND src <> dst ORDER BY 1, 2",
                ids=list(edges)):
            edges[node].append((node, other))
        return edges

    async def upsert_node(self, node_id: str, node_data: dict[str, str]) -> None:
        await self.upsert_nodes_batch([(node_id, node_data)])

    async def upsert_nodes_batch(self, nodes: list[tuple[str, dict[str, str]]]) -> None:
        # In one order in all sessions, so that two of them cannot wait for each other.
        await self.run(("INSERT INTO {node} AS n VALUES (%(id)s, %(data)s) ON CONFLICT (id) DO UPDATE SET data = n.data || excluded.data",
                        [{"id": node, "data": Jsonb(data, dumps=dumps)} for node, data in sorted(nodes, key=lambda row: row[0])]))

    async def upsert_edge(self, source_node_id: str, target_node_id: str, edge_data: dict[str, str]) -> None:
        await self.upsert_edges_batch([(source_node_id, target_node_id, edge_data)])

    async def upsert_edges_batch(self, edges: list[tuple[str, str, dict[str, str]]]) -> None:
        rows = sorted(((*ends(one, other), data) for one, other, data in edges), key=lambda row: row[:2])
        nodes = sorted({node for row in rows for node in row[:2]})
        await self.run(
            ("INSERT INTO {node} VALUES (%(id)s, %(data)s) ON CONFLICT DO NOTHING", [{"id": node, "data": Jsonb({"entity_id": node}, dumps=dumps)} for node in nodes]),
            ("INSERT INTO {edge} AS e VALUES (%(src)s, %(dst)s, %(data)s) ON CONFLICT (src, dst) DO UPDATE SET data = e.data || excluded.data",
             [{"src": src, "dst": dst, "data": Jsonb(data, dumps=dumps)} for src, dst, data in rows]))

    async def delete_node(self, node_id: str) -> None:
        await self.remove_nodes([node_id])

    async def remove_nodes(self, nodes: list[str]):
        await self.run(("DELETE FROM {node} WHERE id = ANY(%(ids)s)", [{"ids": list(nodes)}]))

    async def remove_edges(self, edges: list[tuple[str, str]]):
        stored = [ends(*edge) for edge in edges]
        await self.run(("DELETE FROM {edge} AS e USING unnest(%(src)s::text[], %(dst)s::text[]) AS asked (src, dst) WHERE (e.src, e.dst) = (asked.src, asked.dst)",
                        [{"src": [edge[0] for edge in stored], "dst": [edge[1] for edge in stored]}]))

    async def get_all_nodes(self) -> list[dict]:
        return [{**data, "id": node} for node, data in await self.rows("SELECT id, data FROM {node} ORDER BY id")]

    async def get_all_edges(self) -> list[dict]:
        return [{**data, "source": src, "target": dst} for src, dst, data in await self.rows("SELECT src, dst, data FROM {edge} ORDER BY src, dst")]

    # ------------------------------------------------------------------------------------- what emogi answers

    async def node_degree(self, node_id: str) -> int:
        return (await self.node_degrees_batch([node_id]))[node_id]

    async def node_degrees_batch(self, node_ids: list[str]) -> dict[str, int]:
        found = dict(await self.rows("SELECT vertex, degree FROM emogi_degree_text(%(graph)s, 'both') WHERE vertex = ANY(%(ids)s)", graph=self.graph, ids=list(node_ids)))
        return {node: found.get(node, 0) for node in node_ids}

    async def edge_degree(self, src_id: str, tgt_id: str) -> int:
        return (await self.edge_degrees_batch([(src_id, tgt_id)]))[src_id, tgt_id]

    async def edge_degrees_batch(self, edge_pairs: list[tuple[str, str]]) -> dict[tuple[str, str], int]:
        degrees = await self.node_degrees_batch(list({node for pair in edge_pairs for node in pair}))
        return {(src, tgt): degrees[src] + degrees[tgt] for src, tgt in edge_pairs}

    async def get_all_labels(self) -> list[str]:
        return [row[0] for row in await self.rows("SELECT id FROM {node} ORDER BY id")]

    async def get_popular_labels(self, limit: int = 300) -> list[str]:
        found = [row[0] for row in await self.rows(
            "SELECT vertex FROM emogi_degree_text(%(graph)s, 'both') ORDER BY degree DESC, vertex COLLATE \"C\" LIMIT %(limit)s", graph=self.graph, limit=limit)]
        if len(found) < limit:
            found += [row[0] for row in await self.rows("SELECT id FROM {node} WHERE id <> ALL(%(found)s) ORDER BY id LIMIT %(limit)s", found=found, limit=limit - len(found))]
        return found

    async def search_labels(self, query: str, limit: int = 50) -> list[str]:
        """Get labels that contain the query: the same first, then those that begin with it, then short ones and those that have it at a word's beginning."""
        query = query.strip()
        if not query:
            return []
        return [row[0] for row in await self.rows(
            """SELECT id FROM {node}, lower(id) AS label, lower(%(query)s) AS query WHERE strpos(label, query) > 0
            ORDER BY CASE WHEN label = query THEN 1000 WHEN starts_with(label, query) THEN 500
                ELSE 100 - length(id) + CASE WHEN strpos(label, ' ' || query) > 0 OR strpos(label, '_' || query) > 0 THEN 50 ELSE 0 END END DESC, id
            LIMIT %(limit)s""", query=query, limit=limit)]

    async def get_knowledge_graph(self, node_label: str, max_depth: int = 3, max_nodes: int | None = None) -> KnowledgeGraph:
        """Get the nodes around a node, the nearest first and of equally near ones those of the highest degree, with all edges among them."""
        most = self.global_config.get("max_graph_nodes", 1000)
        most = most if max_nodes is None else min(max_nodes, most)
        reached = ("SELECT id, 0 AS level FROM {node}" if node_label == "*" else
                   # A node without edges is no vertex of the graph.
                   "SELECT id, 0 AS level FROM {node} WHERE id = %(label)s UNION "
                   "SELECT vertex, level FROM emogi_bfs(%(graph)s::text, %(label)s::text, %(depth)s::int, 'both') WHERE level > 0")
        nodes = await self.rows(
            """WITH best AS (
                SELECT id, level, degree FROM (""" + reached + """) AS reached LEFT JOIN emogi_degree_text(%(graph)s, 'both') ON vertex = id
                ORDER BY level, degree DESC NULLS LAST, id COLLATE "C" LIMIT %(most)s + 1)
            SELECT id, data FROM best JOIN {node} USING (id) ORDER BY level, degree DESC NULLS LAST, id COLLATE "C" """,
            graph=self.graph, label=node_label, depth=max_depth, most=most)
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
            await self.run(("TRUNCATE {node}, {edge}", [{}]))
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
