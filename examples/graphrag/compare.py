"""Take the steps of retrieval twice, in PostgreSQL with emogi and pgvector, and with igraph and numpy, and compare answers and times.

What edits does so in a copy of the database, which is dropped at the end: the corpus stays as it is.

The last line is "graphrag: N passed, N failed". The database is the one that libpq's environment names.
"""

import contextlib
import os
import random
import statistics
import sys
import time
from pathlib import Path

import igraph
import numpy
import psycopg
from psycopg import sql

QUESTIONS = ["play chess against the computer", "edit sound recordings and remove the noise", "align DNA sequences and draw the tree", "read encrypted mail", "serve web pages over a proxy"]
SEEDS, PASSAGES, RUNS = 5, 10, 5
ENTITIES_ONLY = "SELECT src, dst, weight FROM relationship WHERE kind <> 'tells of'"

checks = {"passed": 0, "failed": 0}


def check(what, right):
    checks["passed" if right else "failed"] += 1
    if not right:
        print(f"{what}: FAILED")


def timed(steps):
    """Run steps in turn, RUNS times; get the last answer and the median milliseconds of each."""
    answers, times = [None] * len(steps), [[] for _ in steps]
    for _ in range(RUNS):
        for number, step in enumerate(steps):
            began = time.perf_counter()
            answers[number] = step()
            times[number].append((time.perf_counter() - began) * 1000)
    return answers, [statistics.median(each) for each in times]


class Memory:
    """What a program beside the database holds: a copy of the embeddings, and the graph in igraph."""

    def __init__(self, db):
        began = time.perf_counter()
        self.entities, self.entity_vectors = self.vectors(db, "entity")
        self.chunks, self.chunk_vectors = self.vectors(db, "chunk")
        edges = db.execute("SELECT src, dst, weight, kind <> 'tells of' FROM relationship", binary=True).fetchall()
        self.keys = numpy.unique(numpy.array([edge[:2] for edge in edges]))
        ends = numpy.searchsorted(self.keys, numpy.array([edge[:2] for edge in edges]))
        self.graph = igraph.Graph(len(self.keys), ends, directed=False)
        self.graph.es["weight"] = [edge[2] for edge in edges]
        self.between = self.graph.subgraph_edges([number for number, edge in enumerate(edges) if edge[3]], delete_vertices=False)
        self.is_chunk = numpy.isin(self.keys, self.chunks)
        self.load_ms = (time.perf_counter() - began) * 1000

    @staticmethod
    def vectors(db, table):
        rows = db.execute(f"SELECT id, embedding::real[] FROM {table} WHERE embedding IS NOT NULL ORDER BY id", binary=True).fetchall()
        return numpy.array([row[0] for row in rows]), numpy.array([row[1] for row in rows], dtype=numpy.float32)

    def nearest(self, question):
        """Get what the walk starts from, as (id, weight)."""
        seeds = []
        for ids, vectors, many, share in ((self.entities, self.entity_vectors, SEEDS, 1), (self.chunks, self.chunk_vectors, 4 * SEEDS, 0.05)):
            likeness = vectors @ question
            best = numpy.argsort(-likeness, kind="stable")[:many]
            seeds += [(int(ids[number]), share * float(likeness[number])) for number in best]
        return seeds

    def ranks(self, seeds):
        reset = numpy.zeros(len(self.keys))
        for key, weight in seeds:
            place = numpy.searchsorted(self.keys, key)
            if weight > 0 and place < len(self.keys) and self.keys[place] == key:
                reset[place] = weight
        return numpy.array(self.graph.personalized_pagerank(directed=False, damping=0.5, reset=reset.tolist(), weights="weight", implementation="prpack"))

    def retrieve(self, question):
        ranks = self.ranks(self.nearest(question))
        chunks = numpy.flatnonzero(self.is_chunk)
        best = chunks[numpy.lexsort((self.keys[chunks], -ranks[chunks]))[:PASSAGES]]
        return [(int(self.keys[number]), float(ranks[number])) for number in best]


class Database:
    """The same questions to PostgreSQL."""

    def __init__(self, db):
        self.db = db

    def nearest(self, question):
        return self.db.execute(
            "(SELECT id, 1 - d FROM (SELECT id, embedding <=> %(q)s AS d FROM entity ORDER BY embedding <=> %(q)s LIMIT 2 * %(n)s) AS e ORDER BY d, id LIMIT %(n)s) UNION ALL "
            "(SELECT id, 0.05 * (1 - d) FROM (SELECT id, embedding <=> %(q)s AS d FROM chunk ORDER BY embedding <=> %(q)s LIMIT 8 * %(n)s) AS c ORDER BY d, id LIMIT 4 * %(n)s)", {"q": question, "n": SEEDS}).fetchall()

    def ranks(self, seeds, columns="vertex, rank"):
        start = "VALUES " + ", ".join(f"({key}::bigint, {weight!r}::float8)" for key, weight in seeds if weight > 0)
        return self.db.execute(
            f"SELECT {columns} FROM emogi_pagerank('relationship', damping => 0.5, tolerance => 1e-12, direction => 'both', weights => true, start => %s)", [start]).fetchall()

    def retrieve(self, question):
        return self.db.execute("SELECT chunk, rank FROM retrieve(%s, %s, %s) ORDER BY place", [question, SEEDS, PASSAGES]).fetchall()


def same_passages(memory, ranks, ours):
    """See that passages have the ranks that igraph gives them and stand in its order, whatever the order of equal ones; get the greatest difference."""
    best = numpy.sort(ranks[memory.is_chunk])[::-1][:PASSAGES]
    theirs = ranks[numpy.searchsorted(memory.keys, [key for key, _ in ours])]
    given = numpy.array([rank for _, rank in ours])
    check("as many passages as were asked for", len(given) == PASSAGES)
    return max(abs(theirs - given).max(), abs(best - given).max())


def line(what, ours, theirs, difference):
    print(f"{what:<52} {ours:>10} {theirs:>10}   {difference}")


def compare_questions(database, memory, vectors):
    """Compare each step for every question; print times and the greatest differences of all."""
    database.db.execute("SET enable_indexscan = off")      # numpy looks at all vectors, so the database does
    worst = {"nearest": 0.0, "ranks": 0.0, "passages": 0.0}
    times = {"nearest": [], "ranks": [], "passages": []}
    for text, (literal, vector) in zip(QUESTIONS, vectors):
        (ours, theirs), ms = timed([lambda: database.nearest(literal), lambda: memory.nearest(vector)])
        times["nearest"].append(ms)
        worst["nearest"] = max(worst["nearest"], max(abs(a[1] - b[1]) for a, b in zip(ours, theirs)))
        check(f"as many seeds: {text}", len(ours) == len(theirs) == 5 * SEEDS)

        rows = database.ranks(ours)
        (_, theirs), ms = timed([lambda: database.ranks(ours, "sum(rank)"), lambda: memory.ranks(ours)])
        times["ranks"].append(ms)
        check(f"ranks of all vertices: {text}", [row[0] for row in rows] == memory.keys.tolist())
        worst["ranks"] = max(worst["ranks"], abs(numpy.array([row[1] for row in rows]) - theirs).max())

        (ours, _), ms = timed([lambda: database.retrieve(literal), lambda: memory.retrieve(vector)])
        times["passages"].append(ms)
        worst["passages"] = max(worst["passages"], same_passages(memory, memory.ranks(memory.nearest(vector)), ours))
    titles = {"nearest": "nearest entities and passages, all looked at", "ranks": "personalised PageRank, weighted", "passages": "from the vector to passages, as a whole"}
    for step, title in titles.items():
        line(title, *(f"{statistics.mean(ms[side] for ms in times[step]):.1f}" for side in (0, 1)), f"{worst[step]:.1e}")
        check(f"{title}: the same to 1e-6", worst[step] < 1e-6)

    database.db.execute("RESET enable_indexscan")
    exact = [{key for key, _ in memory.nearest(vector)} for _, vector in vectors]
    found = [{key for key, _ in database.nearest(literal)} for literal, _ in vectors]
    _, (ms,) = timed([lambda: [database.retrieve(literal) for literal, _ in vectors]])
    recall = sum(len(a & b) for a, b in zip(exact, found)) / sum(map(len, exact))
    line("from the vector to passages, by pgvector's index", f"{ms / len(vectors):.1f}", "", f"{100 * recall:.0f} % of the nearest found")


def compare_communities(database, memory):
    db = database.db
    random.seed(1)
    leiden = "SELECT vertex, community FROM emogi_leiden(%s, theta => 0.001) WHERE parent IS NULL"
    (ours, theirs), ms = timed([lambda: db.execute(leiden, [ENTITIES_ONLY]).fetchall(), lambda: memory.between.community_leiden("modularity", weights="weight", n_iterations=2)])

    # Two algorithms that draw lots: the communities differ, but what is said of either must be the same on both sides.
    membership = numpy.zeros(len(memory.keys), dtype=int)
    places = numpy.searchsorted(memory.keys, [row[0] for row in ours])
    names = {name: number for number, name in enumerate(sorted({row[1] for row in ours}), 1)}
    membership[places] = [names[row[1]] for row in ours]
    inside = memory.between.induced_subgraph(places.tolist())
    qualities = []
    for who, given in (("emogi's", membership[places]), ("igraph's", numpy.array(theirs.membership)[places])):
        db.execute("CREATE TEMP TABLE given (vertex bigint, community bigint)")
        with db.cursor() as cursor, cursor.copy("COPY given FROM STDIN") as copy:
            for place, number in zip(places, given):
                copy.write_row((int(memory.keys[place]), int(number)))
        here = db.execute("SELECT emogi_modularity(%s, 'TABLE given')", [ENTITIES_ONLY]).fetchone()[0]
        db.execute("DROP TABLE given")
        there = inside.modularity(given.tolist(), weights="weight")
        check(f"modularity of {who} communities: the same to 1e-6", abs(here - there) < 1e-6)
        qualities.append((here, abs(here - there)))
    line("communities by Leiden", f"{ms[0]:.1f}", f"{ms[1]:.1f}", "")
    line("  their modularity, by either's communities", f"{qualities[0][0]:.4f}", f"{qualities[1][0]:.4f}", f"{max(each[1] for each in qualities):.1e}")
    check("emogi's communities are about as good as igraph's", qualities[0][0] > qualities[1][0] - 0.02)
    parts = igraph.VertexClustering(inside, (membership[places] - 1).tolist())
    check("emogi's communities are connected", all(part.is_connected() for part in parts.subgraphs()))


def communities(db):
    """Get entities and summaries of each community by its id."""
    return {row[0]: (row[1], frozenset(row[2])) for row in db.execute("SELECT c.id, c.summary, array_agg(m.entity) FROM community AS c JOIN member AS m ON m.community = c.id GROUP BY c.id")}


def edit(db):
    """A package comes, with what is told of it; one goes; a relationship gets another weight."""
    with db.transaction():
        gone, = db.execute("SELECT src FROM relationship JOIN entity ON id = src AND entity.kind = 'package' GROUP BY src ORDER BY abs(count(*) - 5), src LIMIT 1").fetchone()
        db.execute("DELETE FROM relationship WHERE %(gone)s IN (src, dst) OR src IN (SELECT id FROM chunk WHERE entity = %(gone)s)", {"gone": gone})
        db.execute("DELETE FROM chunk WHERE entity = %s", [gone])
        db.execute("DELETE FROM entity WHERE id = %s", [gone])
        last, = db.execute("SELECT max(id) FROM chunk").fetchone()
        text = "graphchess: play chess against the computer on a graph of positions"
        db.execute("INSERT INTO entity VALUES (%(id)s, 'graphchess', 'package', %(text)s, embed(%(text)s))", {"id": last + 1, "text": text})
        db.execute("INSERT INTO chunk VALUES (%(chunk)s, %(id)s, 1, %(text)s, embed(%(text)s))", {"id": last + 1, "chunk": last + 2, "text": text})
        db.execute("INSERT INTO relationship VALUES (%(chunk)s, %(id)s, 'tells of', 1)", {"id": last + 1, "chunk": last + 2})
        db.execute("INSERT INTO relationship SELECT %s, id, 'is about', 0.2 FROM entity WHERE kind = 'topic' AND name IN ('use::gameplaying', 'game::board')", [last + 1])
        db.execute("UPDATE relationship SET weight = weight + 1 WHERE (src, dst, kind) IN (SELECT src, dst, kind FROM relationship WHERE kind = 'asks for' ORDER BY src, dst LIMIT 1)")
    return last + 2


def compare_edit(database, vectors):
    """After an edit the database answers from what it has; a copy beside it must be made anew. Ids of communities stay."""
    db, (literal, vector) = database.db, vectors[0]
    check("a question without a known word has no answer", db.execute("SELECT count(*) FROM retrieve(embed('xqzzq'))").fetchone()[0] == 0)
    before = communities(db)
    added = edit(db)
    began = time.perf_counter()
    ours = database.retrieve(literal)
    ms = (time.perf_counter() - began) * 1000
    fresh = Memory(db)
    began = time.perf_counter()
    fresh.retrieve(vector)
    theirs_ms = fresh.load_ms + (time.perf_counter() - began) * 1000
    db.execute("SET enable_indexscan = off")
    difference = same_passages(fresh, fresh.ranks(fresh.nearest(vector)), database.retrieve(literal))
    db.execute("RESET enable_indexscan")
    line("the first question after an edit", f"{ms:.1f}", f"{theirs_ms:.1f}", f"{difference:.1e}")
    check("the first question after an edit: the same to 1e-6", difference < 1e-6)
    check("the passage that came is found", added in [key for key, _ in ours])

    began = time.perf_counter()
    same, changed, new, gone, modularity = db.execute("SELECT * FROM refresh_communities()").fetchone()
    written, = db.execute("SELECT summarize()").fetchone()
    ms = (time.perf_counter() - began) * 1000
    after = communities(db)
    ids = {entities: number for number, (_, entities) in before.items()}
    kept = before.keys() & after.keys()
    check("counts of communities", (same + changed + new, same + changed + gone) == (len(after), len(before)) and same + changed == len(kept))
    check("communities of the same entities have kept their ids", all(ids.get(entities, number) == number for number, (_, entities) in after.items()))
    check("what has kept its id is at least half the same", all(2 * len(before[n][1] & after[n][1]) >= len(before[n][1] | after[n][1]) for n in kept))
    check("every new or changed community was written about, and no other", written == changed + new and all(summary for summary, _ in after.values()))
    again = db.execute("SELECT * FROM refresh_communities()").fetchone()
    check("without an edit nothing changes", again[:4] == (len(after), 0, 0, 0))
    anew = db.execute("SELECT modularity FROM refresh_communities(everything => true)").fetchone()[0]
    check("keeping communities costs little modularity", modularity > anew - 0.01)
    line("communities after the edit, and their summaries", f"{ms:.1f}", "", "")
    print(f"\nOf {len(before)} communities {same} are as they were; {changed} have changed and keep their ids; {new} are new, {gone} are gone. {written} summaries were written.")
    print(f"Modularity of level 0: {modularity:.4f}; found anew as a whole it is {anew:.4f}.")
    check("most communities are as they were", same > 0.5 * len(before))


def check_communities(db, when):
    """See that communities are what they should be: level 0 divides all vertices, each is connected and lies within its parent, and is written about."""
    edges = db.execute("SELECT src, dst FROM entity_relationship").fetchall()
    keys = sorted({key for edge in edges for key in edge})
    places = {key: place for place, key in enumerate(keys)}
    graph = igraph.Graph(len(keys), [(places[a], places[b]) for a, b in edges])
    rows = db.execute("SELECT c.id, c.level, c.parent, c.entities, c.stale OR c.summary IS NULL, array_agg(m.entity) FROM community AS c JOIN member AS m ON m.community = c.id GROUP BY c.id").fetchall()
    members = {row[0]: set(row[5]) for row in rows}
    levels = {row[0]: row[1] for row in rows}
    check(f"level 0 has every entity once, {when}", sorted(key for row in rows if row[1] == 0 for key in row[5]) == keys)
    check(f"as many entities as are said, {when}", all(row[3] == len(row[5]) for row in rows))
    check(f"each lies within its parent, {when}", all((row[2] is None) == (row[1] == 0) and (row[1] == 0 or members[row[0]] < members[row[2]] and levels[row[2]] < row[1]) for row in rows))
    check(f"each is connected, {when}", all(graph.induced_subgraph([places[key] for key in row[5]]).is_connected() for row in rows))
    check(f"each is written about, {when}", not any(row[4] for row in rows))


EDITS = ["leave", "relate", "weigh", "come", "island"]


def edit_at_random(db, draw, what):
    """A vertex loses all its relationships, two are related, a weight changes, one comes: so that communities grow, fall apart and vanish."""
    entities = [row[0] for row in db.execute("SELECT src FROM entity_relationship UNION SELECT dst FROM entity_relationship ORDER BY 1")]
    one, other = draw.sample(entities, 2)
    if what == "leave":
        db.execute("DELETE FROM relationship WHERE %s IN (src, dst) AND kind <> 'tells of'", [one])
    elif what == "relate":
        db.execute("INSERT INTO relationship VALUES (%s, %s, 'drawn', 2) ON CONFLICT DO NOTHING", [one, other])
    elif what == "weigh":
        db.execute("UPDATE relationship SET weight = weight * 3 WHERE src = %s AND kind <> 'tells of'", [one])
    else:
        came = [db.execute("INSERT INTO entity SELECT max(id) + 1, 'new ' || (max(id) + 1), 'package', 'new' FROM (SELECT id FROM entity UNION ALL SELECT id FROM chunk) AS ids RETURNING id").fetchone()[0]
                for _ in range(2)]
        db.execute("INSERT INTO relationship VALUES (%s, %s, 'drawn', 1)", [came[0], one if what == "come" else came[1]])


def compare_edits(db):
    draw = random.Random(1)
    for number in range(1, 6):
        for what in draw.sample(EDITS, 3):
            edit_at_random(db, draw, what)
        db.execute("SELECT FROM refresh_communities()")
        db.execute("SELECT summarize()")
        check_communities(db, f"after {3 * number} edits")


def nothing_stays(db, check_some):
    """Run checks that write, and take back what they wrote."""
    with db.transaction(force_rollback=True):
        check_some(db)


def few(db, *edges, entities=()):
    """Have a few entities with relationships, and nothing else."""
    db.execute("DELETE FROM relationship")
    db.execute("DELETE FROM entity")
    db.execute("DELETE FROM chunk")
    for key in sorted({key for edge in edges for key in edge} | set(entities)):
        db.execute("INSERT INTO entity VALUES (%(key)s, 'entity ' || %(key)s, 'drawn', '', embed('chess'))", {"key": key})
    for edge in edges:
        db.execute("INSERT INTO relationship VALUES (%s, %s, 'drawn', 1)", edge)


def refresh(db):
    """Get how many communities and members there are after a refresh."""
    db.execute("SELECT FROM refresh_communities()")
    return db.execute("SELECT (SELECT count(*) FROM community), (SELECT count(*) FROM member), (SELECT count(*) FROM touched)").fetchone()


def check_unrelated(db):
    """Seeds without a relationship have the ranks that they have as vertices without an edge."""
    some, = db.execute("SELECT array_agg(id) FROM (SELECT id FROM chunk ORDER BY embedding <=> embed('play chess against the computer'), id LIMIT 3) AS nearest").fetchone()
    db.execute("DELETE FROM relationship WHERE src = ANY(%s)", [some])
    wrong, = db.execute("""
        WITH near AS (
            (SELECT id, 1 - (embedding <=> q) AS weight FROM embed('play chess against the computer') AS q, entity ORDER BY embedding <=> q, id LIMIT 5)
            UNION ALL
            (SELECT id, 0.05 * (1 - (embedding <=> q)) FROM embed('play chess against the computer') AS q, chunk ORDER BY embedding <=> q, id LIMIT 20)
        ), ranks AS (
            SELECT vertex, rank FROM emogi_pagerank(emogi_with_vertices('relationship', 'SELECT id FROM entity UNION ALL SELECT id FROM chunk'), damping => 0.5, tolerance => 1e-12,
                direction => 'both', weights => true, start => (SELECT 'VALUES ' || string_agg(format('(%%s::bigint, %%s::float8)', id, weight), ', ') FROM near WHERE weight > 0))
        )
        SELECT count(*) FROM (SELECT r.vertex, r.rank FROM ranks AS r JOIN chunk AS c ON c.id = r.vertex ORDER BY r.rank DESC, c.id LIMIT 10) AS a
            FULL JOIN retrieve(embed('play chess against the computer')) AS b ON a.vertex = b.chunk WHERE abs(a.rank - b.rank) < 1e-9 IS NOT TRUE""", []).fetchone()
    check("passages that are related to nothing: the same ranks", wrong == 0)
    # However many others the corpus has that are ranked higher.
    found = [row[0] for row in db.execute("SELECT chunk FROM retrieve(embed('play chess against the computer'), passages => 100000)")]
    check("passages that are related to nothing are found", all(key in found for key in some))
    db.execute("DELETE FROM relationship")
    found = db.execute("SELECT chunk, rank FROM retrieve(embed('play chess against the computer'))").fetchall()
    check("without any relationship passages are found by their nearness", len(found) == 10 and [row[1] for row in found] == sorted((row[1] for row in found), reverse=True))


def check_no_direction(db):
    """Vectors of zeros, of the question and of what is near, and numbers out of range."""
    zeros = "[" + ",".join(["0"] * 256) + "]"
    count = "SELECT count(*) FROM retrieve({})"
    check("a question of zeros has no answer", db.execute(count.format("%s"), [zeros]).fetchone()[0] == 0)
    few(db, (1, 2))
    db.execute("INSERT INTO chunk SELECT 100 + n, 1, n, 'passage', embed('chess') FROM generate_series(1, 4) AS n")
    db.execute("INSERT INTO relationship SELECT id, entity, 'tells of', 1 FROM chunk")
    db.execute("UPDATE entity SET embedding = %s WHERE id = 2", [zeros])
    db.execute("UPDATE chunk SET embedding = %s WHERE id = 103", [zeros])
    found = db.execute("SELECT chunk, rank FROM retrieve(embed('chess'))").fetchall()
    check("an embedding of zeros is no seed", sorted(row[0] for row in found) == [101, 102, 103, 104] and all(row[1] < 1 for row in found))
    check("as many seeds as one likes", db.execute(count.format("embed('chess'), 600000000"), []).fetchone()[0] == 4)
    check("equal passages stand in the order of ids", [row[0] for row in found] == [101, 102, 104, 103])
    # The one whose id is smallest is written last.
    db.execute("DELETE FROM relationship")
    db.execute("DELETE FROM chunk")
    db.execute("INSERT INTO chunk SELECT n, 1, n, 'passage', embed('chess') FROM generate_series(106, 101, -1) AS n")
    check("of equally near seeds the first are taken", [row[0] for row in db.execute("SELECT chunk FROM retrieve(embed('chess'), 1)")] == [101, 102, 103, 104])
    db.execute("INSERT INTO relationship SELECT id, entity, 'tells of', 1 FROM chunk")
    db.execute("DELETE FROM chunk WHERE id > 102")
    db.execute("INSERT INTO chunk SELECT 200 + n, 3, n, 'its entity is gone', embed('chess') FROM generate_series(1, 4) AS n")
    check("passages of an entity that is gone take no places", db.execute(count.format("embed('chess'), passages => 2"), []).fetchone()[0] == 2)


def check_own_tables(db):
    """Tables of the user's that have names which the example has used."""
    names = ["top", "fresh", "fresh_member", "old", "matched", "at_present", "old_top"]
    for name in names:
        db.execute(f"CREATE TABLE {name} AS SELECT 1 AS mine")
    few(db, (1, 2), (2, 3))
    refresh(db)
    few(db, (1, 2), (3, 4))
    refresh(db)
    check("tables of the user's stay", all(db.execute(f"SELECT mine FROM {name}").fetchone()[0] == 1 for name in names))
    db.execute((Path(__file__).parent / "own.sql").read_text())
    db.execute("CREATE SCHEMA elsewhere")
    db.execute("SET LOCAL search_path = elsewhere, public")
    db.execute("CALL pg_temp.drop_own('entity_relationship', 'chunk', 'entity')")
    check("what lies in another schema is not dropped", db.execute("SELECT count(*) FROM entity").fetchone()[0] == 4)
    db.execute("CREATE TABLE entity AS SELECT 1 AS mine")
    try:
        with db.transaction():
            db.execute("CALL pg_temp.drop_own('chunk', 'entity')")
        check("a table of the user's is not dropped", False)
    except psycopg.errors.DuplicateTable:
        check("a table of the user's is not dropped", db.execute("SELECT mine FROM entity").fetchone()[0] == 1)
    db.execute("CALL pg_temp.mark_own('TABLE', 'entity')")
    db.execute("CALL pg_temp.drop_own('chunk', 'entity')")
    check("a table of the example is dropped", db.execute("SELECT to_regclass('elsewhere.entity')").fetchone()[0] is None)


def check_what_goes(db):
    """TRUNCATE, entities that go alone, come late or change their keys, and ids that are hashes."""
    triangle = (1, 2), (2, 3), (1, 3)
    few(db)
    check("no communities of nothing", refresh(db) == (0, 0, 0))
    few(db, *triangle)
    check("communities of three", refresh(db) == (1, 3, 0))
    db.execute("TRUNCATE relationship")
    check("communities after TRUNCATE relationship", refresh(db) == (0, 0, 0))
    few(db, *triangle)
    refresh(db)
    db.execute("TRUNCATE entity")
    check("communities after TRUNCATE entity", refresh(db) == (0, 0, 0))
    few(db, *triangle, (4, 5))
    refresh(db)
    db.execute("DELETE FROM entity WHERE id IN (1, 4, 5)")
    check("communities after entities have gone alone", refresh(db) == (1, 2, 0))
    db.execute("SELECT summarize()")
    check("nothing is out of date for ever", db.execute("SELECT bool_or(stale) FROM community").fetchone()[0] is False)
    db.execute("INSERT INTO entity VALUES (1, 'late', 'drawn', '')")
    check("communities after an entity has come late", refresh(db) == (1, 3, 0))
    db.execute("UPDATE entity SET id = 7 WHERE id = 1")
    check("communities after an entity has another key", refresh(db) == (1, 2, 0))
    db.execute("SELECT summarize()")
    db.execute("UPDATE entity SET name = name, text = text, embedding = NULL")
    check("an entity with another embedding is the same", db.execute("SELECT count(*) FROM touched").fetchone()[0] == 0)
    for column in ("name", "text"):
        db.execute(f"UPDATE entity SET {column} = 'another' WHERE id = 2")
        changed = db.execute("SELECT same, changed, new, gone FROM refresh_communities()").fetchone()
        check(f"an entity with another {column}: its community is out of date", changed == (0, 1, 0, 0) and db.execute("SELECT summarize()").fetchone()[0] == 1)
    check("the summary has the name", "another" in db.execute("SELECT summary FROM community").fetchone()[0])
    large = 2**63 - 1
    few(db, (large, large - 1), (large - 1, large - 2), (-2**63, 1 - 2**63))
    check("communities of hashes", refresh(db) == (2, 5, 0))
    db.execute("UPDATE relationship SET weight = 2")
    check("communities of hashes after an edit", refresh(db) == (2, 5, 0))
    check("summaries of hashes", db.execute("SELECT summarize()").fetchone()[0] == 2)


def check_writers(db):
    """A role that may write the tables of the graph, and no others."""
    few(db)
    refresh(db)
    few(db, (1, 2), (2, 3), (1, 3))
    refresh(db)
    db.execute("CREATE ROLE graphrag_writer")
    db.execute("GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON entity, chunk, relationship TO graphrag_writer")
    db.execute("CREATE SCHEMA elsewhere AUTHORIZATION graphrag_writer")
    db.execute("SET LOCAL ROLE graphrag_writer")
    for name in ("touched", "member", "relationship"):
        db.execute(f"CREATE TEMP TABLE {name} (entity bigint, moves boolean, src bigint, dst bigint, kind text)")
        db.execute(f"CREATE TABLE elsewhere.{name} (LIKE pg_temp.{name})")
    schema, = db.execute("SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'entity'::regclass").fetchone()
    db.execute("SET LOCAL search_path = elsewhere, pg_temp")
    for statement in ("INSERT INTO {}.entity VALUES (4, 'entity 4', 'drawn', ''), (5, 'entity 5', 'drawn', '')", "INSERT INTO {}.relationship VALUES (4, 5, 'drawn', 1)",
                      "UPDATE {}.relationship SET weight = 2", "UPDATE {}.entity SET text = 'another' WHERE id = 1", "UPDATE {}.entity SET id = 6 WHERE id = 5",
                      "DELETE FROM {}.relationship WHERE src = 1", "DELETE FROM {}.entity WHERE id = 4"):
        try:
            with db.transaction():
                db.execute(statement.format(schema))
            check(statement, True)
        except psycopg.Error as error:
            check(f"{statement}: {error}", False)
    try:
        with db.transaction():
            db.execute(f"CREATE TRIGGER mine AFTER TRUNCATE ON elsewhere.touched EXECUTE FUNCTION {schema}.note_all()")
        check("nobody else makes triggers of the functions", False)
    except psycopg.errors.InsufficientPrivilege:
        check("nobody else makes triggers of the functions", True)
    db.execute("RESET ROLE")
    db.execute("DROP TABLE pg_temp.touched, pg_temp.member, pg_temp.relationship")
    db.execute("RESET search_path")
    check("what the role has written is noted", {row[0] for row in db.execute("SELECT entity FROM touched")} == {1, 2, 3, 4, 5})
    check("communities after the role has written", refresh(db) == (1, 2, 0))


@contextlib.contextmanager
def copied(name):
    """Get a connection to a copy of a database, to which nobody may be connected; the copy is dropped at the end."""
    copy = f"{name}_edited_{os.getpid()}"
    with psycopg.connect(dbname="postgres", autocommit=True) as server:
        try:
            server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(copy), sql.Identifier(name)))
        except psycopg.errors.ObjectInUse as error:
            sys.exit(f"what edits is tried in a copy of the database, and it can be copied when nobody else is connected: {error}")
        try:
            with psycopg.connect(dbname=copy, autocommit=True) as edited:
                yield edited
        finally:
            server.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(copy)))


def contents(db):
    """Get what tells whether the corpus and its communities are as they were."""
    return [db.execute(f"SELECT count(*), sum(hashtextextended(t::text, 0)) FROM {table} AS t").fetchone() for table in ("entity", "chunk", "relationship", "community", "member", "touched")]


def main():
    with psycopg.connect(autocommit=True) as db:
        db.execute("SET hnsw.ef_search = 200")
        memory, database = Memory(db), Database(db)
        literals = [db.execute("SELECT embed(%s)::text", [text]).fetchone()[0] for text in QUESTIONS]
        vectors = [(literal, numpy.array([float(x) for x in literal[1:-1].split(",")], dtype=numpy.float32)) for literal in literals]
        database.retrieve(literals[0])
        print(f"\nMedians of {RUNS} runs in turn, means of {len(QUESTIONS)} questions; {len(memory.keys)} vertices, {memory.graph.ecount()} edges.\n")
        line("", "emogi and", "numpy and", "greatest")
        line("step", "pgvector", "igraph", "difference")
        line("reading the tables, before the first question", "", f"{memory.load_ms:.1f}", "")
        compare_questions(database, memory, vectors)
        compare_communities(database, memory)
        check_communities(db, "at first")
        name, before = db.info.dbname, contents(db)
    with copied(name) as db:
        db.execute("SET hnsw.ef_search = 200")
        database = Database(db)
        database.retrieve(literals[0])
        compare_edit(database, vectors)
        compare_edits(db)
        for checks_that_write in (check_unrelated, check_no_direction, check_own_tables, check_what_goes, check_writers):
            nothing_stays(db, checks_that_write)
    with psycopg.connect(autocommit=True) as db:
        check("the corpus is as it was", contents(db) == before)
    print(f"graphrag: {checks['passed']} passed, {checks['failed']} failed")
    return 1 if checks["failed"] else 0


sys.exit(main())
