"""Reads pairs of data files with pylance and says whether they are the same.

A program: each line of standard input is a JSON array of two paths, and each line of standard
output its answer: null, or what differs. pylance ends the process for some files, so that this is
one of its own; compare() starts it again.
"""
import json
import random
import subprocess
import sys
import threading

import exactly

ROWS_TAKEN = 20
SECONDS = 120


def look(path):
    """Tables of the whole file, of a range, and of single rows."""
    from lance.file import LanceFileReader
    reader = LanceFileReader(path)
    whole = reader.read_all(batch_size=4096).to_table()
    rows = whole.num_rows
    yield "all", whole
    if rows == 0:
        return
    first, rest = rows // 3, rows - rows // 3 - rows // 5
    yield "range", reader.read_range(first, rest).to_table()
    taken = sorted(random.Random(rows).sample(range(rows), min(rows, ROWS_TAKEN)))
    yield "taken", LanceFileReader(path).take_rows(taken).to_table()


def answer(ours, theirs):
    want = list(look(theirs))
    for (what, got), (_, due) in zip(look(ours), want, strict=True):
        # The program that writes files has nothing of the schema but its fields.
        found = exactly.tables(got.replace_schema_metadata(), due.replace_schema_metadata(), what)
        if found:
            return found
    return None


def serve(answer_of):
    """Answers line by line."""
    for line in sys.stdin:
        try:
            said = answer_of(*json.loads(line))
        except BaseException as error:  # pylance's panics are no Exceptions
            said = f"{type(error).__name__}: {str(error)[:300]}"
        print(json.dumps(said), flush=True)


class Comparer:
    """Asks the program, which is started again when it ended."""

    def __init__(self, interpreter=sys.executable, script=__file__):
        self.command, self.program = [interpreter, script], None

    def start(self):
        self.program = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def compare(self, ours, theirs):
        """None when pylance reads the same of both, else what differs."""
        if self.program is None or self.program.poll() is not None:
            self.start()
        program = self.program
        timer = threading.Timer(SECONDS, program.kill)
        timer.start()
        try:
            program.stdin.write(json.dumps([str(ours), str(theirs)]).encode() + b"\n")
            program.stdin.flush()
            said = program.stdout.readline()
        finally:
            timer.cancel()
        if said:
            return json.loads(said)
        return f"pylance ended with {program.wait()}"

    def close(self):
        if self.program is not None:
            self.program.stdin.close()
            self.program.wait(timeout=SECONDS)


if __name__ == "__main__":
    serve(answer)
