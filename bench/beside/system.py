"""What a system that is compared has in common with the others: the questions, an answer with its time, and what a limit is."""
import time

HOPS = (1, 2, 3, 4)
QUESTIONS = tuple(f'{k} hop' if k == 1 else f'{k} hops' for k in HOPS) + ('path', 'path by cost', 'components', 'PageRank')
OF_A_VERTEX = QUESTIONS[:4]
ITERATIONS = 20


def hops_of(question):
    """Get how many hops a question is about."""
    return int(question.split()[0])


class Late(Exception):
    """A question was not answered within the limit."""


class System:
    """A system beside others. It holds the table edges(id, src, dst, cost), of which changes are told to it."""
    name = ''
    keeps = False           # whether it keeps something between calls that is another when a row has changed: then it is asked in three states
    questions = QUESTIONS
    most_edges = None       # with more it is not asked
    loaded_s = None         # what it took to copy the table into it, None where the table is its own

    def version(self):
        """Get what it is, in a few words."""

    def load(self, edges):
        """Get ready for a new table of so many edges."""

    def ask(self, question, source, target):
        """Get the answer, a tuple of numbers or None, or raise Late."""

    def change(self, row):
        """Add an edge (id, src, dst, cost)."""

    def prepare(self, question, source, target):
        """See that what is kept for a question is there. That has no limit."""

    def cool(self):
        """Drop what is kept between calls."""

    def how(self):
        """Get a word about how the last answer was found, or ''."""
        return ''

    def close(self):
        """Give back what it holds."""

    def timed(self, limit, question, source, target):
        """Get the answer and the ms that it took. One that came later than the limit is late, too."""
        began = time.perf_counter()
        answer = self.ask(question, source, target)
        ms = 1000 * (time.perf_counter() - began)
        if ms > 1000 * limit:
            raise Late
        return answer, ms
