"""Base class of the compared systems: the questions, timed answers, and the time limit."""
import time

HOPS = (1, 2, 3, 4)
QUESTIONS = tuple(f'{k} hop' if k == 1 else f'{k} hops' for k in HOPS) + ('path', 'path by cost', 'components', 'PageRank')
OF_A_VERTEX = QUESTIONS[:4]
ITERATIONS = 20


def hops_of(question):
    """Get the number of hops of a question."""
    return int(question.split()[0])


class Late(Exception):
    """A question was not answered within the limit."""


class System:
    """A compared system. It holds the table edges(id, src, dst, cost) and is notified of changes."""
    name = ''
    keeps = False           # whether it caches data that a changed row invalidates; then it is measured in three states
    questions = QUESTIONS
    most_edges = None       # skipped for more edges
    loaded_s = None         # time of copying the table into it, None if it reads the table in place

    def version(self):
        """Get the name and version."""

    def load(self, edges):
        """Prepare for a new table with this number of edges."""

    def ask(self, question, source, target):
        """Get the answer, a tuple of numbers or None; raises Late."""

    def change(self, row):
        """Add an edge (id, src, dst, cost)."""

    def prepare(self, question, source, target):
        """Fill the cache for a question, without a time limit."""

    def cool(self):
        """Drop cached data."""

    def how(self):
        """Get a word about how the last answer was computed, or ''."""
        return ''

    def close(self):
        """Free all resources."""

    def timed(self, limit, question, source, target):
        """Get the answer and its time in ms; raises Late also if it exceeded the limit."""
        began = time.perf_counter()
        answer = self.ask(question, source, target)
        ms = 1000 * (time.perf_counter() - began)
        if ms > 1000 * limit:
            raise Late
        return answer, ms
