"""Passes on what a run prints and records, and writes its files."""

import contextlib
import json
import os
import sys

from host import files, terminal
from host.console import packed
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
        self._packed = packed.Packed(lambda line: self._record(line, False), lambda text: self.stream("stdout", text), self._fail)

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

    def unpack(self, console):
        """Everything has come: end the records of `pack`.  If all came, the log may begin late.  Returns lines on what is missing."""
        whole, lines = self._packed.end()
        late = console.begins_late() if whole and console else 0
        if lines:
            self._fail("; ".join(lines))
        return [f"the log begins at frame {late}, with all packed records"] if late else []

    def _fail(self, why):
        self.fault = self.fault or why

    def _record(self, data, may_pack=True):
        try:
            record = json.loads(data.decode())
            if not isinstance(record, dict):
                raise ValueError("it is no JSON object")
            if record.get("payload") == records.HOST:  # such a record names files of this machine
                raise ValueError(f'a program wrote "payload": "{records.HOST}", which only the host writes')
        except (ValueError, RecursionError) as error:
            self._fail(f"a record is not valid, and left out: {error}")
            return
        if may_pack and packed.MEMBER in record:
            self._packed.take(record[packed.MEMBER])
            return
        try:
            self._stacks.take(record)
        except ValueError as error:
            self._fail(f"a record is not valid: {error}")
        # A file of /tmp comes as bytes, by its own stream.
        if isinstance(record.get("file"), str) and isinstance(record.get("text"), str) and not record["file"].startswith(TMP):
            self._files.setdefault(record["file"], []).append(record["text"])
        if self._path:
            # One line for each record.  In JSON a newline can only separate tokens, as a blank does.
            self._keep(data.strip().replace(b"\n", b" ").replace(b"\r", b" ") + b"\n")

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

    def file(self, name):
        """A program's file for the host, text or bytes; None if none wrote it."""
        pieces = self._files.get(TMP if name.startswith(TMP) else name)
        return None if pieces is None else type(pieces[0])().join(pieces)

    def write(self, written, folded, flame_graph, say):
        """Write the files of programs, pairs of a name and a path, and the stacks.  say() gets a line on what is missing."""
        if (folded or flame_graph) and self._stacks.empty():
            say("host: no stacks for --folded or --flamegraph: run a program under `record`")
        for name, path in written:
            if (text := self.file(name)) is not None:
                self._write(path, text)
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
