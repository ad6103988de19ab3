"""Passes on what a run prints and records, and writes its files."""

import contextlib
import json
import os
import sys

from host import files, terminal
from host.results import records, stacks

TMP = "/tmp/"  # the folder of the guest of which one file comes home


class Outputs:
    """Receives the streams of a run: a context that opens the file of the records.

    `fault` becomes the first thing that is wrong with a record, or with a file.  The old file of records remains if the run
    fails without a record: the caller sets `complete` if it did not fail.
    """

    def __init__(self, results):
        self._path = results
        self._new = None  # the file of the records
        self._results = None  # the same, as long as it can be written
        self.complete = False
        self._good_bytes = 0  # of whole records in that file
        self._files = {}
        self._stacks = stacks.Stacks()
        self.fault = ""

    def __enter__(self):
        if self._path:
            self._new = files.Replacement(self._path)
            self._results = self._new.file
        return self

    def __exit__(self, *_):
        if self._new:
            self._new.end(self.complete or self._good_bytes > 0)

    def stream(self, name, data):
        if name == "json":
            self._record(data)
        elif name == "file":
            self._files[TMP] = [data]
        else:
            terminal.pass_on(sys.stdout if name == "stdout" else sys.stderr, data)

    def _record(self, data):
        try:
            record = json.loads(data.decode())
            if not isinstance(record, dict):
                raise ValueError("it is no JSON object")
            if record.get("payload") == records.HOST:  # such a record names files of this machine
                raise ValueError(f'a program wrote "payload": "{records.HOST}", which only the host writes')
        except (ValueError, RecursionError) as error:
            self.fault = self.fault or f"a record is not valid, and left out: {error}"
            return
        try:
            self._stacks.take(record)
        except ValueError as error:
            self.fault = self.fault or f"a record is not valid: {error}"
        # A file of /tmp comes as bytes, by its own stream.
        if isinstance(record.get("file"), str) and isinstance(record.get("text"), str) and not record["file"].startswith(TMP):
            self._files.setdefault(record["file"], []).append(record["text"])
        if self._path:
            # One line for each record.  In JSON a newline can only separate tokens, as a blank does.
            self._keep(data.strip().replace(b"\n", b" ") + b"\n")

    def _keep(self, line):
        """Write a record.  The first that does not fit in the file, and all that follow, go to standard error: a board runs once."""
        try:
            if self._results:
                files.write_all(self._results, line)
                self._good_bytes += len(line)
                return
        except OSError as error:
            with contextlib.suppress(OSError):  # it is a device
                os.truncate(self._results.fileno(), self._good_bytes)
            self._results = None
            self.fault = f"{self._path}: {error.strerror}: copy the other records from standard error"
            terminal.say_wrong(f"host: {self._path}: {error.strerror}: all other records follow here")
        terminal.pass_on(sys.stderr, line)

    def write(self, written, folded, flame_graph, say):
        """Write the files of programs, pairs of a name and a path, and the stacks.  say() gets a line on what is missing."""
        if (folded or flame_graph) and self._stacks.empty():
            say("host: no stacks for --folded or --flamegraph: run a program under `record`")
        for name, path in written:
            pieces = self._files.get(TMP if name.startswith(TMP) else name)
            if pieces is not None:
                self._write(path, type(pieces[0])().join(pieces))
            else:
                say(f"host: no program wrote the file {name}: {path} is not written")
        if folded:
            self._write(folded, self._stacks.folded())
        if flame_graph:
            self._write(flame_graph, self._stacks.flame_graph())

    def _write(self, path, text):
        """Write a file.  If that fails, the other files and the status of the run still come."""
        try:
            with files.named(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text if isinstance(text, bytes) else text.encode(errors="replace"))
        except OSError as error:
            line = f"{error.filename}: not written: {error.strerror}"
            if self.fault:
                terminal.say_wrong(f"host: {line}")
            self.fault = self.fault or line
