"""Passes on what a run prints and records, and writes its files."""

import json
import sys

import stacks
import terminal


class Outputs:
    """Receives the streams of a run: a context that opens the file of the records.

    `bad_record` becomes the first thing that is wrong with a record.
    """

    def __init__(self, results):
        self._path = results
        self._results = None
        self._files = {}
        self._stacks = stacks.Stacks()
        self.bad_record = ""

    def __enter__(self):
        if self._path:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._results = open(self._path, "wb")
        return self

    def __exit__(self, *_):
        if self._results:
            self._results.close()

    def stream(self, name, data):
        if name == "json":
            self._record(data)
        else:
            terminal.pass_on(sys.stdout if name == "stdout" else sys.stderr, data)

    def _record(self, data):
        try:
            record = json.loads(data)
            self._stacks.take(record)
            if isinstance(record.get("file"), str):
                self._files[record["file"]] = self._files.get(record["file"], "") + str(record.get("text"))
        except (ValueError, TypeError, RecursionError) as error:
            self.bad_record = self.bad_record or f"a record is not valid: {error}"
        if self._results:
            # One line for each record.  In JSON a newline can only separate tokens, as a blank does.
            self._results.write(data.strip().replace(b"\n", b" ") + b"\n")
            self._results.flush()

    def write(self, files, folded, flame_graph, say):
        """Write the files of programs, pairs of a name and a path, and the stacks.  say() gets a line on what is missing."""
        if (folded or flame_graph) and self._stacks.empty():
            say("host: no stacks for --folded or --flamegraph: run a program under `record`")
        for name, path in files:
            if name in self._files:
                _write(path, self._files[name])
            else:
                say(f"host: no program wrote the file {name}: {path} is not written")
        if folded:
            _write(folded, self._stacks.folded())
        if flame_graph:
            _write(flame_graph, self._stacks.flame_graph())


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
