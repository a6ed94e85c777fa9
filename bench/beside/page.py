"""Writes the generated part of docs/adoption.md from the csv file of a run: the tables, and the fastest systems.

    page.py CSV PAGE            put it between the markers of the page
    page.py CSV                 print it"""
import csv
import math
import pathlib
import sys
import textwrap

from system import QUESTIONS

BEGIN, END = '<!-- written by bench/adoption: from here -->', '<!-- written by bench/adoption: to here -->'
SYSTEMS = ('emogi', 'SQL', 'pgRouting', 'AGE', 'DuckDB')
STATES = ('warm', 'changed', 'cold')
WITHIN = 1.1            # maximum ratio to the minimum time that counts as fastest
NOISE = 0.1             # ms, or this difference


class Run:
    """The figures of a run."""

    def __init__(self, path):
        lines = pathlib.Path(path).read_text().splitlines()
        self.facts = dict(line[2:].split(': ', 1) for line in lines if line.startswith('# '))
        self.cells = {}
        for row in csv.DictReader(line for line in lines if not line.startswith('#')):
            row['p50'], row['p95'] = (float(row[name]) if row[name] else math.inf for name in ('p50_ms', 'p95_ms'))
            self.cells[int(row['edges']), row['question'], row['system'], row['state']] = row
        self.sizes = sorted({key[0] for key in self.cells})
        self.questions = [q for q in QUESTIONS if any(key[1] == q for key in self.cells)]
        self.systems = [s for s in SYSTEMS if any(key[2] == s for key in self.cells)]
        self.most = int(self.facts['queries'])

    def cell(self, edges, question, system, state):
        """Get a cell, or the system's cell for all states, or an infinite cell if the system was late at this or a smaller size, or None."""
        for key in ((edges, question, system, state), (edges, question, system, 'any')):
            if key in self.cells:
                return self.cells[key]
        if system == 'AGE' and edges > int(self.facts.get('AGE up to', 0)):
            return None
        if any(key[0] < edges and key[1:3] == (question, system) and key[3] == 'any' and cell['p50'] == math.inf for key, cell in self.cells.items()):
            return {'p50': math.inf, 'p95': math.inf, 'calls': '0', 'late': '0'}
        return None

    def fastest(self, edges, question, state):
        """Get the systems that count as fastest, in the order of the columns."""
        times = {s: c['p50'] for s in self.systems if (c := self.cell(edges, question, s, state))}
        least = min(times.values(), default=math.inf)
        return [] if least == math.inf else [s for s, t in times.items() if t <= max(WITHIN * least, least + NOISE)]


def number(ms):
    """Format a time with three significant digits."""
    if ms < 10:
        return f'{ms:.2f}'
    return f'{ms:.1f}' if ms < 100 else f'{ms:,.0f}'


def edges_in_words(edges):
    exponent = round(math.log10(edges))
    return f'10<sup>{exponent}</sup>' if 10 ** exponent == edges else f'{edges:,}'


def figure(run, cell):
    """Get the median of a cell."""
    if cell is None:
        return ''
    return '> ' + run.facts['limit'] if cell['p50'] == math.inf else number(cell['p50'])


def table(run):
    yield '| question | edges | emogi, warm | a row changed | cold | ' + ' | '.join(run.systems[1:]) + ' |'
    yield '|' + '---|' * (len(run.systems) + 4)
    for question in run.questions:
        for i, edges in enumerate(run.sizes):
            own = [figure(run, run.cell(edges, question, 'emogi', state)) for state in STATES]
            others = [figure(run, run.cell(edges, question, system, 'warm')) for system in run.systems[1:]]
            yield f"| {question if i == 0 else ''} | {edges_in_words(edges)} | " + ' | '.join(own + others) + ' |'


def line_of(run, question, state):
    """Describe the sizes from which emogi counts as fastest."""
    holds = [edges for edges in run.sizes if 'emogi' in run.fastest(edges, question, state)]
    from_here = None
    for edges in reversed(run.sizes):
        if edges not in holds:
            break
        from_here = edges
    if from_here == run.sizes[0]:
        return 'at all sizes'
    if from_here and holds[0] == from_here:
        return f'at {edges_in_words(from_here)} and above'
    others = sorted({name for edges in run.sizes for name in run.fastest(edges, question, state) if name != 'emogi'})
    return f"at no size: {', '.join(others)}" if not holds else f"at {', '.join(edges_in_words(e) for e in holds)} only; otherwise {', '.join(others)}"


def lines(run):
    yield '| question | warm | a row changed | cold |'
    yield '|---|---|---|---|'
    for question in run.questions:
        yield f'| {question} | ' + ' | '.join(line_of(run, question, state) for state in STATES) + ' |'


def copies(run):
    """Yield the table of copy times in seconds, without the sizes and systems that have none."""
    loads = {(system, edges): run.cells[edges, 'load', system, 'any']['p50'] / 1000
             for system in run.systems for edges in run.sizes if (edges, 'load', system, 'any') in run.cells}
    if not loads:
        return
    sizes = [edges for edges in run.sizes if any(size == edges for _, size in loads)]
    yield '| system | ' + ' | '.join(f'{edges_in_words(edges)} edges' for edges in sizes) + ' |'
    yield '|---|' + '---|' * len(sizes)
    for system in dict.fromkeys(system for system, _ in loads):
        yield f'| {system} | ' + ' | '.join(f'{loads[system, edges]:.1f}' if (system, edges) in loads else '' for edges in sizes) + ' |'


def part(run):
    facts = run.facts
    words = ['emogi is among the fastest (within max(10 %, 0.1 ms) of the smallest median) in these cases:', ''] + list(lines(run))
    words += ['', textwrap.fill(
        f"Medians in milliseconds of {run.most} to {run.most + 2} calls (fewer if calls are slow), measured with `{facts['command']}` on {facts['date']}. "
        f"Machine: {facts['device']}. Versions: {facts['versions']}; emogi at commit {facts['commit']}. "
        f"`> {facts['limit']}` means no answer within that time; larger tables were not tried. "
        'An empty cell means that the question is not supported, or was not tried.', 120), '']
    words += table(run)
    loads = list(copies(run))
    if loads:
        words += ['', 'emogi, SQL and pgRouting read the table. The others read a copy. Making the copy takes, in seconds:', '']
        words += loads
    return '\n'.join(words)


def main():
    text = part(Run(sys.argv[1]))
    if len(sys.argv) == 2:
        print(text)
        return
    page = pathlib.Path(sys.argv[2])
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f'{page} has no part between {BEGIN} and {END}')
    page.write_text(f'{before}{BEGIN}\n\n{text}\n\n{END}{after}')


if __name__ == '__main__':
    main()
