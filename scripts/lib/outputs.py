"""Passes on what a run prints and records, and writes its files."""

import contextlib
import json
import os
import sys

import stacks
import terminal
from files import named


class Outputs:
    """Receives the streams of a run: a context that opens the file of the records.

    `fault` becomes the first thing that is wrong with a record, or with a file.
    """

    def __init__(self, results):
        self._path = results
        self._results = None
        self._good_bytes = 0  # of whole records in that file
        self._files = {}
        self._stacks = stacks.Stacks()
        self.fault = ""

    def __enter__(self):
        if self._path:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._results = open(self._path, "wb", buffering=0)
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
            self.fault = self.fault or f"a record is not valid: {error}"
        if self._path:
            # One line for each record.  In JSON a newline can only separate tokens, as a blank does.
            self._keep(data.strip().replace(b"\n", b" ") + b"\n")

    def _keep(self, line):
        """Write a record.  The first that does not fit in the file, and all that follow, go to standard error: a board runs once."""
        try:
            if self._results:
                _write_all(self._results, line)
                self._good_bytes += len(line)
                return
        except OSError as error:
            with contextlib.suppress(OSError):  # it is a device
                os.truncate(self._results.fileno(), self._good_bytes)
            self._results.close()
            self._results = None
            self.fault = f"{self._path}: {error.strerror}: copy the other records from standard error"
            terminal.say_wrong(f"host: {self._path}: {error.strerror}: all other records follow here")
        terminal.pass_on(sys.stderr, line)

    def write(self, files, folded, flame_graph, say):
        """Write the files of programs, pairs of a name and a path, and the stacks.  say() gets a line on what is missing."""
        if (folded or flame_graph) and self._stacks.empty():
            say("host: no stacks for --folded or --flamegraph: run a program under `record`")
        for name, path in files:
            if name in self._files:
                self._write(path, self._files[name])
            else:
                say(f"host: no program wrote the file {name}: {path} is not written")
        if folded:
            self._write(folded, self._stacks.folded())
        if flame_graph:
            self._write(flame_graph, self._stacks.flame_graph())

    def _write(self, path, text):
        """Write a file.  If that fails, the other files and the status of the run still come."""
        try:
            with named(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        except OSError as error:
            line = f"{error.filename}: not written: {error.strerror}"
            if self.fault:
                terminal.say_wrong(f"host: {line}")
            self.fault = self.fault or line


def _write_all(file, data):
    """Write all bytes to a file that has no buffer."""
    while data:
        data = data[file.write(data):]
