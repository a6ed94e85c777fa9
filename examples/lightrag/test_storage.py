"""All methods of EmogiGraphStorage against a model in plain Python, on random graphs with awkward names.

    test_storage.py [SEED [STEPS]]

The database is the one that libpq's environment names. Where LightRAG is installed the storage is seen to be one of its storages. The last line is
"lightrag: N passed, N failed".
"""

import asyncio
import inspect
import random
import sys

import emogi_storage
from emogi_storage import EmogiGraphStorage

NAMES = [f"Person {number}" for number in range(30)] + [
    "", " ", "*", "O'Brien", 'the "quoted"', "back\\slash", "100 %", "%(name)s", "{node}", "under_score", "new\nline", "tab\t", "(a,b)", "{1,2}", "NULL",
    "Zürich", "zürich", "ÉCOLE", "école", "東京", "\U0001F600", "\uffff", "a" * 300, "person 1", "PERSON 1", "42", "-1", "$1", "--", "; DROP TABLE x"]

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
    values = {"description": draw.choice(NAMES), "weight": draw.random(), "count": draw.randrange(-5, 2**40), "flag": draw.random() < 0.5, "file_path": "a<SEP>b"}
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
    for limit in (0, 3, 20, 300):
        check(f"get_popular_labels {limit}", await store.get_popular_labels(limit), model.popular()[:limit])
    for query in ("person", "1", "PERSON 1", " o'b ", "%", "_", "\\", "score", "ü", " ", "nothing like it"):
        check(f"search_labels {query!r}", await store.search_labels(query, 7), model.search(query, 7))
    for label in ["*", "nobody"] + some[:4]:
        for depth, most in ((0, 5), (1, 1000), (2, 4), (3, 10), (9, None)):
            what = f"get_knowledge_graph {label!r} {depth} {most}"
            graph = await store.get_knowledge_graph(label, depth, most)
            nodes, cut = model.subgraph(label, depth, min(most or 25, 25))
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


async def compare_errors(store, model):
    for value in (float("nan"), float("inf"), "a\0b", {1}):
        try:
            await store.upsert_nodes_batch([("Person 1", {"description": "written"}), ("Person 2", {"value": value})])
            check(f"{value!r} is refused", False)
        except Exception as error:
            check(f"{value!r} is refused", type(error).__name__ in ("ValueError", "TypeError", "UntranslatableCharacter", "DataError"))
    check("a batch that was refused has written nothing", await store.get_node("Person 1"), model.nodes.get("Person 1"))


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
    draw = random.Random(seed)
    store, other, third, model = storage('test "one"'), storage(""), storage("three"), Model()
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
    await compare_at_once(store)
    await store.index_done_callback()
    await store.finalize()
    await store.finalize()
    store = storage('test "one"')
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
