"""All methods of EmogiGraphStorage against a model in plain Python, on random graphs with awkward names.

    test_storage.py [SEED [STEPS]]

The database is the one that libpq's environment names. Where LightRAG is installed the storage is seen to be one of its storages. The last line is
"lightrag: N passed, N failed".
"""

import asyncio
import inspect
import os
import random
import sys
from unittest import mock

import emogi_storage
import psycopg
from emogi_storage import MOST_BYTES, EmogiGraphStorage

NAMES = [f"Person {number}" for number in range(30)] + [
    "", " ", "*", "O'Brien", 'the "quoted"', "back\\slash", "100 %", "%(name)s", "{node}", "under_score", "new\nline", "tab\t", "(a,b)", "{1,2}", "NULL",
    "Zürich", "zürich", "ÉCOLE", "école", "Москва", "МОСКВА река", "東京", "\U0001F600", "\uffff", "a" * 300, "person 1", "PERSON 1", "42", "-1", "$1", "--", "; DROP TABLE x"]

counts = {"passed": 0, "failed": 0}


def check(what, got, expected=True):
    right = got == expected
    counts["passed" if right else "failed"] += 1
    if not right:
        print(f"{what} FAILED: got {got!r}, expected {expected!r}"[:2000])


class Model:
    """The graph in dicts: nodes by id, edges by their two ends in order."""

    def __init__(self):
        self.nodes, self.edges = {}, {}

    def upsert_node(self, node, data):
        self.nodes.setdefault(node, {}).update(data)

    def upsert_edge(self, one, other, data):
        for node in (one, other):
            self.nodes.setdefault(node, {"entity_id": node})
        self.edges.setdefault(tuple(sorted((one, other))), {}).update(data)

    def remove_node(self, node):
        self.nodes.pop(node, None)
        self.edges = {ends: data for ends, data in self.edges.items() if node not in ends}

    def remove_edge(self, one, other):
        self.edges.pop(tuple(sorted((one, other))), None)

    def get_edge(self, one, other):
        return self.edges.get(tuple(sorted((one, other))))

    def neighbours(self, node):
        return sorted({(node, ends[1] if ends[0] == node else ends[0]) for ends in self.edges if node in ends})

    def degree(self, node):
        return len(self.neighbours(node))

    def popular(self):
        return sorted(self.nodes, key=lambda node: (-self.degree(node), node))

    def around(self, label, depth):
        """Get the levels of the nodes that are reached."""
        if label == "*":
            return dict.fromkeys(self.nodes, 0)
        levels = {label: 0} if label in self.nodes else {}
        ring = list(levels)
        for level in range(1, depth + 1):
            ring = [other for node in ring for _, other in self.neighbours(node) if levels.setdefault(other, level) == level]
        return levels

    def subgraph(self, label, depth, most):
        levels = self.around(label, depth)
        ranked = sorted(levels, key=lambda node: (levels[node], -self.degree(node), node))
        return ranked[:most], len(ranked) > most

    def search(self, query, limit):
        query = query.strip().lower()
        found = []
        for node in self.nodes if query else []:
            label = node.lower()
            if query in label:
                score = 1000 if label == query else 500 if label.startswith(query) else 100 - len(node) + 50 * (" " + query in label or "_" + query in label)
                found.append((-score, node))
        return [node for _, node in sorted(found)[:limit]]


def random_data(draw):
    values = {"description": draw.choice(NAMES), "weight": draw.random(), "count": draw.randrange(-5, 2**40), "flag": draw.random() < 0.5, "file_path": "a<SEP>b",
              "large": draw.choice([1e22, -1e308, 2.0, 10**22]), "looks large": 'say "1e+22" or 1e+22'}
    return {key: values[key] for key in draw.sample(sorted(values), draw.randrange(len(values) + 1))}


def random_ends(draw, model):
    """Draw the ends of an edge: of one that is there, of a loop, or any."""
    luck = draw.random()
    if luck < 0.3 and model.edges:
        edge = draw.choice(sorted(model.edges))
        return draw.choice([edge, edge[::-1]])
    one = draw.choice(NAMES)
    return (one, one) if luck > 0.95 else (one, draw.choice(NAMES))


async def write(draw, store, model):
    """Write at random, to both."""
    what = draw.choice(["node", "nodes", "edge", "edges", "edges", "edges", "delete", "remove nodes", "remove edges"])
    if what == "node":
        node, data = draw.choice(NAMES), random_data(draw)
        await store.upsert_node(node, data)
        model.upsert_node(node, data)
    elif what == "nodes":
        nodes = [(draw.choice(NAMES), random_data(draw)) for _ in range(draw.randrange(6))]
        await store.upsert_nodes_batch(nodes)
        for node, data in nodes:
            model.upsert_node(node, data)
    elif what == "edge":
        (one, other), data = random_ends(draw, model), random_data(draw)
        await store.upsert_edge(one, other, data)
        model.upsert_edge(one, other, data)
    elif what == "edges":
        edges = [(*random_ends(draw, model), random_data(draw)) for _ in range(draw.randrange(12))]
        await store.upsert_edges_batch(edges)
        for edge in edges:
            model.upsert_edge(*edge)
    elif what == "delete":
        node = draw.choice(NAMES)
        await store.delete_node(node)
        model.remove_node(node)
    elif what == "remove nodes":
        nodes = draw.choices(NAMES, k=draw.randrange(4))
        await store.remove_nodes(nodes)
        for node in nodes:
            model.remove_node(node)
    else:
        edges = [random_ends(draw, model) for _ in range(draw.randrange(6))]
        await store.remove_edges(edges)
        for edge in edges:
            model.remove_edge(*edge)


async def compare(draw, store, model):
    """Ask everything of both."""
    some = draw.choices(NAMES + ["nobody"], k=8)
    pairs = list(zip(some, reversed(some))) + draw.sample(sorted(model.edges), min(3, len(model.edges)))
    for node in some:
        check(f"has_node {node!r}", await store.has_node(node), node in model.nodes)
        check(f"get_node {node!r}", await store.get_node(node), model.nodes.get(node))
        check(f"node_degree {node!r}", await store.node_degree(node), model.degree(node))
        check(f"get_node_edges {node!r}", await store.get_node_edges(node), model.neighbours(node) if node in model.nodes else None)
    for one, other in pairs:
        check(f"has_edge {one!r} {other!r}", await store.has_edge(one, other), model.get_edge(one, other) is not None)
        check(f"get_edge {one!r} {other!r}", await store.get_edge(one, other), model.get_edge(one, other))
        check(f"edge_degree {one!r} {other!r}", await store.edge_degree(one, other), model.degree(one) + model.degree(other))
    check("has_nodes_batch", await store.has_nodes_batch(some), set(some) & model.nodes.keys())
    check("get_nodes_batch", await store.get_nodes_batch(some), {node: model.nodes[node] for node in some if node in model.nodes})
    check("node_degrees_batch", await store.node_degrees_batch(some), {node: model.degree(node) for node in some})
    check("edge_degrees_batch", await store.edge_degrees_batch(pairs), {pair: model.degree(pair[0]) + model.degree(pair[1]) for pair in pairs})
    check("get_edges_batch", await store.get_edges_batch([{"src": a, "tgt": b} for a, b in pairs]), {pair: model.get_edge(*pair) for pair in pairs if model.get_edge(*pair) is not None})
    check("get_nodes_edges_batch", await store.get_nodes_edges_batch(some), {node: model.neighbours(node) for node in some})
    check("get_all_labels", await store.get_all_labels(), sorted(model.nodes))
    check("get_all_nodes", await store.get_all_nodes(), [{**model.nodes[node], "id": node} for node in sorted(model.nodes)])
    check("get_all_edges", await store.get_all_edges(), [{**model.edges[ends], "source": ends[0], "target": ends[1]} for ends in sorted(model.edges)])
    for limit in (0, 3, 20, 300, -1, -3, -1000):
        check(f"get_popular_labels {limit}", await store.get_popular_labels(limit), model.popular()[:limit])
    for query in ("person", "1", "PERSON 1", " o'b ", "%", "_", "\\", "score", "ü", "Ü", "ÉCOLE", "école", "Москва", "москва", "РЕКА", " ", "nothing like it"):
        for limit in (7, 0, -1):
            check(f"search_labels {query!r} {limit}", await store.search_labels(query, limit), model.search(query, limit))
    for label in ["*", "nobody"] + some[:4]:
        for depth, most in ((0, 5), (1, 1000), (2, 4), (3, 10), (9, None), (-1, 5), (1, 0), (1, -1)):
            what = f"get_knowledge_graph {label!r} {depth} {most}"
            graph = await store.get_knowledge_graph(label, depth, most)
            nodes, cut = model.subgraph(label, depth, 25 if most is None else max(min(most, 25), 0))
            check(what, [(node.id, node.labels, node.properties) for node in graph.nodes], [(node, [node], model.nodes[node]) for node in nodes])
            inside = [ends for ends in sorted(model.edges) if ends[0] in nodes and ends[1] in nodes]
            check(f"{what}, edges", [(edge.source, edge.target, edge.properties) for edge in graph.edges], [(*ends, model.edges[ends]) for ends in inside])
            check(f"{what}, ids of edges", len({edge.id for edge in graph.edges}), len(inside))
            check(f"{what}, cut", graph.is_truncated, cut)


async def compare_at_once(store):
    """Many writers at once, in orders that would have them wait for each other, and a reader beside them."""
    nodes = [f"Busy {number}" for number in range(20)]
    draws = [random.Random(number) for number in range(8)]

    async def writer(draw):
        for _ in range(5):
            await store.upsert_edges_batch([(*draw.sample(nodes, 2), {f"by {number}": 1}) for number in range(30)])

    await asyncio.gather(*(writer(draw) for draw in draws), *(store.get_popular_labels(5) for _ in range(10)))
    edges = [edge for edge in await store.get_all_edges() if edge["source"].startswith("Busy ")]
    degrees = await store.node_degrees_batch(nodes)
    check("degrees after many writers", degrees, {node: sum(node in (edge["source"], edge["target"]) for edge in edges) for node in nodes})
    check("many writers have written", len(edges) > 150)
    await store.remove_nodes(nodes)


async def write_beside_deletes(stores):
    """Write and delete the same few nodes from several stores at once: an edge makes its nodes again, and nobody waits for each other for ever."""
    store = stores[0]
    for number in range(40):
        await store.upsert_node("Hub", {})
        await asyncio.gather(store.upsert_edges_batch([("Hub", f"Rim {rim}", {}) for rim in range(20)]), store.delete_node("Hub"))
    nodes = [f"Rim {number}" for number in range(12)]

    async def writer(draw, store):
        for _ in range(30):
            await draw.choice([
                lambda: store.upsert_edges_batch([(*draw.sample(nodes, 2), {"weight": 1.0}) for _ in range(20)]),
                lambda: store.upsert_nodes_batch([(node, {"x": 1}) for node in draw.sample(nodes, 8)]),
                lambda: store.remove_nodes(draw.sample(nodes, 4)),
                lambda: store.remove_edges([tuple(draw.sample(nodes, 2)) for _ in range(20)])])()

    failed = [error for error in await asyncio.gather(*(writer(random.Random(number), stores[number % len(stores)]) for number in range(12)), return_exceptions=True) if error]
    check("writes beside deletes", failed, [])
    edges = [edge for edge in await store.get_all_edges() if edge["source"].startswith("Rim ")]
    degrees = await store.node_degrees_batch(nodes)
    check("degrees after writes beside deletes", degrees, {node: sum(node in (edge["source"], edge["target"]) for edge in edges) for node in nodes})
    await store.remove_nodes(["Hub"] + [f"Rim {number}" for number in range(20)])


async def refused(what, call, *errors):
    """See that a call ends in one of the errors."""
    try:
        await call
        check(f"{what} is refused", False)
    except Exception as error:
        check(f"{what} is refused by {error!r}", type(error).__name__ in errors)


async def compare_errors(store, model):
    for value in (float("nan"), float("inf"), "a\0b", {1}):
        await refused(f"{value!r}", store.upsert_nodes_batch([("Person 1", {"description": "written"}), ("Person 2", {"value": value})]),
                      "ValueError", "TypeError", "UntranslatableCharacter", "DataError")
    for data in (None, ["a"], "text", 5):
        await refused(f"a node of {data!r}", store.upsert_nodes_batch([("Person 1", {"description": "written"}), ("Person 2", data)]), "TypeError")
        await refused(f"an edge of {data!r}", store.upsert_edge("Person 1", "Person 2", data), "TypeError")
    for call in (store.has_node, store.get_node, store.node_degree, store.get_node_edges, store.delete_node, store.get_knowledge_graph):
        await refused(f"{call.__name__} of a number", call(5), "TypeError")
    for call in (store.has_edge, store.get_edge, store.edge_degree):
        await refused(f"{call.__name__} of a number", call("Person 1", 5), "TypeError")
    await refused("a number as a node", store.upsert_node(5, {}), "TypeError")
    await refused("a number as an end", store.upsert_edge("Person 1", 5, {}), "TypeError")
    await refused("a number as an edge to remove", store.remove_edges([("Person 1", 5)]), "TypeError")
    check("a batch that was refused has written nothing", await store.get_node("Person 1"), model.nodes.get("Person 1"))


async def compare_long_names(store):
    """Names as long as they may be, of letters that do not compress."""
    draw = random.Random(1)
    long = ["".join(chr(draw.randrange(0x4E00, 0x9F00)) for _ in range(MOST_BYTES // 3)) for _ in range(2)]
    await store.upsert_edge(*long, {"weight": 1.0})
    check("an edge of two long names", (await store.get_edge(*long), await store.edge_degree(*long)), ({"weight": 1.0}, 2))
    await store.remove_nodes(long)
    longer = [name + "ü" for name in long]
    await refused("a node of a longer name", store.upsert_node(longer[0], {}), "ValueError")
    await refused("an edge of a longer name", store.upsert_edge("Person 1", longer[0], {}), "ValueError")
    check("a longer name is not there", await store.has_node(longer[0]), False)


async def compare_life(store):
    """Connections that the server has closed; other event loops; after the end."""
    async with await psycopg.AsyncConnection.connect(autocommit=True) as db:
        await db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()")
    check("connections that have gone are replaced", await asyncio.gather(*(store.has_node("nobody") for _ in range(8))), [False] * 8)
    for what in (store.get_all_labels, store.initialize, store.finalize):
        await refused(f"{what.__name__} in another event loop", asyncio.to_thread(lambda: asyncio.run(what())), "RuntimeError")
    ended = storage("three")
    await asyncio.to_thread(lambda: asyncio.run(ended.initialize()))
    await refused("a call in a loop after that of initialize", ended.get_all_labels(), "RuntimeError")
    await ended.initialize()
    check("initialize in another loop opens it again", await ended.get_all_labels(), [])
    await ended.finalize()
    for call in (ended.get_all_labels(), ended.upsert_node("late", {}), ended.remove_edges([("a", "b")])):
        await refused("a call after finalize", call, "RuntimeError")


async def compare_rights():
    """A role without rights to make anything, for which a schema is prepared, or all the tables."""
    async with await psycopg.AsyncConnection.connect(autocommit=True) as db:
        if (await (await db.execute("SELECT current_setting('is_superuser')")).fetchone())[0] != "on":
            print("the role is no superuser: plain roles are not looked at")
            return
        for statement in ("DROP SCHEMA IF EXISTS lightrag_prepared CASCADE", "DROP ROLE IF EXISTS lightrag_plain", "CREATE ROLE lightrag_plain", "CREATE SCHEMA lightrag_prepared AUTHORIZATION lightrag_plain"):
            await db.execute(statement)
        with mock.patch.dict(os.environ, EMOGI_LIGHTRAG_CONNINFO="options='-c role=lightrag_plain'"):
            await refused("a workspace that nobody has prepared", storage("unprepared").initialize(), "InsufficientPrivilege")
            for owner in ("lightrag_plain", "CURRENT_USER"):
                await db.execute(f"ALTER SCHEMA lightrag_prepared OWNER TO {owner}")
                await db.execute("GRANT USAGE ON SCHEMA lightrag_prepared TO lightrag_plain")
                store = storage("prepared")
                await store.initialize()
                await store.upsert_edge("a", "b", {"weight": 1.0})
                check(f"a plain role in a schema of {owner}", await store.get_all_labels(), ["a", "b"])
                await store.finalize()
        await db.execute("DROP SCHEMA lightrag_prepared CASCADE")
        await db.execute("DROP ROLE lightrag_plain")


async def compare_schemas():
    """emogi in a schema that is not in the search_path, in a database of its own."""
    async with await psycopg.AsyncConnection.connect(autocommit=True) as db:
        if (await (await db.execute("SELECT current_setting('is_superuser')")).fetchone())[0] != "on":
            print("the role is no superuser: emogi in another schema is not looked at")
            return
        name = f"lightrag_schemas_{os.getpid()}"
        await db.execute(f"CREATE DATABASE {name}")
        try:
            async with await psycopg.AsyncConnection.connect(dbname=name, autocommit=True) as there:
                await there.execute('CREATE SCHEMA "tools %s ""5"""')
                await there.execute('CREATE EXTENSION emogi SCHEMA "tools %s ""5"""')
            with mock.patch.dict(os.environ, EMOGI_LIGHTRAG_CONNINFO=f"dbname={name}"):
                store = storage("elsewhere")
                await store.initialize()
                await store.upsert_edge("a", "b", {"weight": 1.0})
                graph = await store.get_knowledge_graph("a", 1)
                check("emogi in another schema", (await store.node_degree("b"), await store.get_popular_labels(), [node.id for node in graph.nodes]), (1, ["a", "b"], ["a", "b"]))
                await store.finalize()
        finally:
            await db.execute(f"DROP DATABASE {name}")


def check_class():
    """See that it is a storage of LightRAG, if that is installed; say so if not."""
    try:
        import lightrag.base
        import lightrag.kg
        from lightrag.kg.factory import get_storage_class
    except ImportError:
        print("LightRAG is not installed: its base class is not looked at")
        return
    base = lightrag.base.BaseGraphStorage
    check("it is a storage of LightRAG", issubclass(EmogiGraphStorage, base))
    check("no abstract method is missing", sorted(EmogiGraphStorage.__abstractmethods__), [])
    for name, method in inspect.getmembers(base, inspect.isfunction):
        if not name.startswith("_"):
            ours = getattr(EmogiGraphStorage, name)
            check(f"{name} takes the same arguments", list(inspect.signature(ours).parameters), list(inspect.signature(method).parameters))
    emogi_storage.register()
    emogi_storage.register()
    check("it is registered once", lightrag.kg.STORAGE_IMPLEMENTATIONS["GRAPH_STORAGE"]["implementations"].count("EmogiGraphStorage"), 1)
    lightrag.kg.verify_storage_implementation("GRAPH_STORAGE", "EmogiGraphStorage")
    check("it is found by its name", get_storage_class("EmogiGraphStorage") is EmogiGraphStorage)


def storage(workspace):
    return EmogiGraphStorage(namespace="chunk_entity_relation", workspace=workspace, global_config={"max_graph_nodes": 25}, embedding_func=None)


async def main(seed, steps):
    check_class()
    os.environ["PGAPPNAME"] = f"emogi test_storage {os.getpid()}"
    draw = random.Random(seed)
    store, other, third, model = storage('test "one" 5 %s'), storage(""), storage("three"), Model()
    await refused("a call before initialize", store.get_all_labels(), "RuntimeError")
    await asyncio.gather(*(each.initialize() for each in (store, other, third)))
    await third.finalize()
    check("an empty one is dropped", (await store.drop())["status"], "success")
    await other.drop()
    await compare(draw, store, model)
    await other.upsert_edge("Person 1", "elsewhere", {"weight": 1.0})
    for step in range(steps):
        await write(draw, store, model)
        if step % 10 == 9:
            await compare(draw, store, model)
    await compare_errors(store, model)
    await compare_long_names(store)
    await compare_at_once(store)
    second = storage('test "one" 5 %s')
    await second.initialize()
    await write_beside_deletes([store, second])
    await second.finalize()
    await compare_rights()
    await compare_schemas()
    await compare_life(store)
    await store.index_done_callback()
    await store.finalize()
    await store.finalize()
    store = storage('test "one" 5 %s')
    await store.initialize()
    await compare(draw, store, model)
    check("the other workspace has what was written there", await other.get_all_labels(), ["Person 1", "elsewhere"])
    check("drop", await store.drop(), {"status": "success", "message": "data dropped"})
    check("nothing is left", (await store.get_all_nodes(), await store.get_all_edges()), ([], []))
    check("but of the other workspace", await other.node_degree("elsewhere"), 1)
    await store.finalize()
    await other.finalize()
    print(f"lightrag: {counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1, int(sys.argv[2]) if len(sys.argv) > 2 else 300)))
