"""A psql session whose statements are timed in turn with other programs, for bench/closeness and bench/analytics."""
import subprocess


class Session:
    def __init__(self):
        self.psql = subprocess.Popen(['psql', '-XAtq', '-F', ' ', '-v', 'ON_ERROR_STOP=1'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, query):
        """Run a statement; returns its rows as lists of words, and its time in ms."""
        self.psql.stdin.write('\\timing on\n' + query + ';\n\\timing off\n')
        self.psql.stdin.flush()
        rows = []
        for line in self.psql.stdout:
            if line.startswith('Time:'):
                return rows, float(line.split()[1])
            rows.append(line.split())
        raise SystemExit('psql has exited')
