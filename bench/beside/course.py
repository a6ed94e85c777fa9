"""Procedure of bench/adoption: creates a table of each size, compares the answers of all systems,
times them in turn, and writes a csv file of cells.

A cell is a question at a size, a system and a state: `warm`, `changed` (a row was just inserted)
and `cold` (cached data was dropped). A system without cached data has one state, `any`."""
import argparse
import collections
import csv
import math
import os
import pathlib
import random
import sys
import time

import psycopg

from age import Age
from duck import Duck
from postgres import Emogi, PgRouting, Sql
from system import Late, OF_A_VERTEX, QUESTIONS

COLUMNS = ('edges', 'vertices', 'question', 'system', 'state', 'calls', 'late', 'p50_ms', 'p95_ms', 'how')
COMPARED = 3            # draws whose answers are compared before anything is timed
LEAST_CALLS = 3         # of a cell with long calls
MOST_LATE = 1           # late calls in a cell after which the system is skipped


def say(*words):
    print(time.strftime('%H:%M:%S'), *words, file=sys.stderr, flush=True)


def same(x, y):
    """Return whether two numbers are equal: exactly for integers, to 1e-9 for sums of fractions in a different order."""
    if x is None or y is None:
        return x is y
    return x == y or (not float(x).is_integer() and math.isclose(float(x), float(y), rel_tol=1e-9))


def alike(a, b):
    """Return whether two answers are equal, number by number."""
    return len(a) == len(b) and all(map(same, a, b))


def percentile(times, share):
    """Get a percentile of the times."""
    return sorted(times)[max(0, math.ceil(share * len(times)) - 1)]


class Cell:
    """The times of a system for a question in a state; infinity for late calls."""

    def __init__(self):
        self.times, self.hows, self.spent = [], collections.Counter(), 0.0

    @property
    def late(self):
        return sum(1 for t in self.times if t == math.inf)

    def wants_more(self, queries, budget):
        if self.late >= MOST_LATE or len(self.times) >= queries:
            return False
        return len(self.times) < LEAST_CALLS or self.spent < budget


class Course:
    def __init__(self, args, systems, out):
        self.args, self.systems, self.out = args, systems, out
        self.gone = set()       # (system, question) that was late before any time was recorded; skipped for larger tables
        self.table = psycopg.connect(args.table, autocommit=True)

    # ------------------------------------------------------------------------------------------------- a size

    def make_table(self, edges):
        """Create the table: each vertex has about ten outgoing edges; targets are skewed, so that some vertices have high in-degree."""
        self.edges, self.vertices = edges, max(edges // 10, 10)
        run = self.table.execute
        run('DROP TABLE IF EXISTS edges')
        run('CREATE TABLE edges (id bigint, src bigint, dst bigint, cost float8)')
        draw = f'((hashint8extended(i, {{}} + {self.args.seed}) & 9007199254740991) / 9007199254740992.0::float8)'
        run(f'''INSERT INTO edges SELECT i, floor({self.vertices} * {draw.format(1000)})::bigint,
            (floor({self.vertices} * power({draw.format(2000)}, 1.5))::bigint * 7919 + 13) % {self.vertices},
            1 + floor(100 * {draw.format(3000)}) FROM generate_series(1, {edges}) i''')
        run('CREATE INDEX edges_src ON edges (src) INCLUDE (dst, cost)')
        run('CREATE INDEX edges_dst ON edges (dst)')
        run('CREATE INDEX edges_id ON edges (id)')
        run('VACUUM (ANALYZE, FREEZE) edges')
        run('CHECKPOINT')
        self.next_id = edges + 1

    def draw(self, count):
        """Draw the vertices of a question: one with an outgoing edge, and another with an incoming edge."""
        chance = random.Random(self.args.seed * 1000003 + self.edges)
        ids = [chance.randint(1, self.edges) for _ in range(2 * count)]
        rows = dict((row[0], row[1:]) for row in self.table.execute('SELECT id, src, dst FROM edges WHERE id = ANY(%s)', (ids,)))
        pairs = [(rows[a][0], rows[b][1]) for a, b in zip(ids[:count], ids[count:])]
        self.pairs = [pair for pair in pairs if pair[0] != pair[1]]
        self.chance = chance

    def here(self, question):
        """Get the systems that run this question on this table."""
        return [s for s in self.systems if question in s.questions and (s.name, question) not in self.gone and (s.most_edges is None or self.edges <= s.most_edges)]

    def go(self, edges):
        say(f'{edges:,} edges: creating the table')
        self.make_table(edges)
        self.draw(400)
        for system in self.systems:
            if system.most_edges is None or edges <= system.most_edges:
                system.load(edges)
                if system.loaded_s is not None:
                    say(f'  copied to {system.name} in {system.loaded_s:.1f} s')
                    self.write('load', system.name, 'any', [1000 * system.loaded_s], '')
        self.compare_all()
        for question in self.args.questions:
            began = time.time()
            self.time_question(question)
            say(f'  {question}: {time.time() - began:.1f} s')

    # ------------------------------------------------------------------------------------------------- answers

    def differ(self, question, pair, answers):
        """End the run if the answers of two systems differ."""
        first = next(iter(answers))
        for name, answer in answers.items():
            if not alike(answer, answers[first]):
                sys.exit(f'ANSWERS DIFFER: {question} of {self.edges} edges from {pair[0]} to {pair[1]}: '
                         + ', '.join(f'{n} {a}' for n, a in answers.items()))

    def compare_all(self):
        """Compare the answers of all systems to all questions. A system that is late here is late in its cells and is skipped."""
        for question in self.args.questions:
            names = []
            for system in self.here(question):
                system.prepare(question, *self.pairs[-1])
            for pair in self.pairs[-COMPARED if question in QUESTIONS[:6] else -1:]:
                answers = {}
                for system in self.here(question):
                    try:
                        answers[system.name], _ = system.timed(self.args.limit, question, *pair)
                    except Late:
                        self.gone.add((system.name, question))
                        self.write(question, system.name, 'any', [math.inf], '')
                        say(f'  {question}: {system.name} takes more than {self.args.limit:g} s')
                self.differ(question, pair, answers)
                names = list(answers)
            say(f"  {question}: {' = '.join(names)}" if len(names) > 1 else f"  {question}: {''.join(names)} only, not compared")

    # --------------------------------------------------------------------------------------------------- times

    def time_one(self, system, cell, question, pair, answers):
        """Time one call."""
        try:
            answers[system.name], ms = system.timed(self.args.limit, question, *pair)
        except Late:
            ms = math.inf
        cell.times.append(ms)
        cell.spent += min(ms / 1000, self.args.limit)
        cell.hows[system.how()] += 1

    def add_edge(self, source):
        """Insert an outgoing edge of a vertex into the table and every copy of it."""
        row = (self.next_id, source, self.chance.choice(self.pairs)[1], float(self.chance.randint(1, 100)))
        self.next_id += 1
        self.table.execute('INSERT INTO edges VALUES (%s, %s, %s, %s)', row)
        for system in self.systems:
            if system.most_edges is None or self.edges <= system.most_edges:
                system.change(row)

    def time_question(self, question):
        """Time a question: all systems warm, in turn; then those with cached data, each after a
        changed row and without cached data. All answers after the first two changed rows are
        compared."""
        systems = self.here(question)
        cells = collections.defaultdict(Cell)
        for state in 'warm', 'changed', 'cold':
            if state == 'warm':
                for system in systems:
                    system.prepare(question, *self.pairs[-1])
            for i, pair in enumerate(self.pairs):
                asked = [s for s in systems if state == 'warm' or s.keeps or (state == 'changed' and i < 2)]
                asked = [s for s in asked if (state == 'changed' and i < 2 and not s.keeps and self.cell(cells, s, state).late == 0)
                         or self.cell(cells, s, state).wants_more(self.args.queries, self.args.budget)]
                if not any(s.keeps for s in asked) and (state != 'warm' or not asked):
                    break
                if state == 'changed':
                    self.add_edge(pair[0])
                answers = {}
                turn = i % len(asked)
                for system in asked[turn:] + asked[:turn]:
                    if state == 'cold':
                        system.cool()
                    self.time_one(system, self.cell(cells, system, state), question, pair, answers)
                if answers:
                    self.differ(f'{question} ({state})', pair, answers)
        for (name, state), cell in cells.items():
            self.write(question, name, state, cell.times, cell.hows.most_common(1)[0][0])

    @staticmethod
    def cell(cells, system, state):
        return cells[system.name, state if system.keeps else 'any']

    def write(self, question, name, state, times, how):
        late = sum(1 for t in times if t == math.inf)
        p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
        self.out.writerow((self.edges, self.vertices, question, name, state, len(times), late, *('' if t == math.inf else f'{t:.3f}' for t in (p50, p95)), how))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('--table', required=True, help='connection string of the server with emogi')
    parser.add_argument('--age', help='connection string of a server with AGE')
    parser.add_argument('--age-most', type=int, default=1000000)
    parser.add_argument('--pgrouting', action='store_true')
    parser.add_argument('--sizes', type=lambda text: [int(float(word)) for word in text.split()], required=True)
    parser.add_argument('--questions', type=lambda text: [word.strip() for word in text.split(',')], default=list(QUESTIONS))
    parser.add_argument('--limit', type=float, default=5)
    parser.add_argument('--queries', type=int, default=20)
    parser.add_argument('--budget', type=float, default=2)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--folder', type=pathlib.Path, required=True)
    parser.add_argument('--fact', action='append', default=[], help='a header line of the csv file, NAME: VALUE')
    parser.add_argument('--csv', type=pathlib.Path, required=True)
    args = parser.parse_args()
    unknown = [question for question in args.questions if question not in QUESTIONS]
    if unknown:
        parser.error(f"no such question: {', '.join(unknown)}; choose from {', '.join(QUESTIONS)}")
    return args


def main():
    args = arguments()
    with psycopg.connect(args.table, autocommit=True) as session:
        session.execute('CREATE EXTENSION IF NOT EXISTS emogi')
        if args.pgrouting:
            session.execute('SET client_min_messages = warning')
            session.execute('CREATE EXTENSION IF NOT EXISTS pgrouting CASCADE')
    systems = [Emogi(args.table, args.limit), Sql(args.table, args.limit)]
    if args.pgrouting:
        systems.append(PgRouting(args.table, args.limit))
    if args.age:
        systems.append(Age(args.age, args.table, args.limit, args.age_most))
    systems.append(Duck(args.table, args.limit, args.folder))
    partial = args.csv.with_suffix('.part')
    began = time.time()
    with open(partial, 'w', newline='') as file:
        for fact in args.fact + ['versions: ' + ', '.join(system.version() for system in systems), f'limit: {args.limit:g} s', f'queries: {args.queries}',
                                 f'seed: {args.seed}', f'AGE up to: {args.age_most if args.age else 0}']:
            file.write(f'# {fact}\n')
        out = csv.writer(file, lineterminator='\n')
        out.writerow(COLUMNS)
        course = Course(args, systems, out)
        for edges in args.sizes:
            course.go(edges)
        course.table.execute('DROP TABLE edges')
        for system in systems:
            system.close()
    os.replace(partial, args.csv)
    say(f'done in {time.time() - began:.0f} s')


if __name__ == '__main__':
    main()
