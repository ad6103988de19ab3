"""Reads logs as the commands of clouds print them, and logs that grow.

AWS's `get-console-output` prints JSON with the text, or with its Base64 from the API; gcloud's `get-serial-port-output`
plain text, or JSON by --format=json.  A file may hold the middle of such JSON alone: then escapes betray it."""

import base64
import binascii
import json
import os
import re
import signal
import subprocess
import threading
import time

from host.emulator.qemu import HostError
from host.terminal import say

MAX_BYTES = 64 << 20  # of a wrapped log, and of what a command prints
FOLLOW_SECONDS = 2
FAILURES = 5  # of the command in a row: a network may fail for a while
COMMAND_SECONDS = 60
OVERLAP = 4096  # bytes of the last look that the next one must have
# A guest chooses the text: neither looks twice at a long part of it.
BASE64 = re.compile(rb"\s*[A-Za-z0-9+/]{60}[A-Za-z0-9+/\s]*(?:=\s*){0,2}\Z")
ESCAPED = re.compile(rb"BARECPC-(?:BEGIN [\w -]{1,60}|END)(?:\\r)*\\n")
ESCAPES = re.compile(rb"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def _longest(value):
    """The longest text in what JSON holds."""
    found, todo = "", [value]
    while todo:
        one = todo.pop()
        if isinstance(one, str) and len(one) > len(found):
            found = one
        todo += one.values() if isinstance(one, dict) else one if isinstance(one, list) else []
    return found.encode(errors="replace")


def _unescaped(match):
    word = match[1]
    if len(word) == 5:
        return chr(int(word[1:], 16)).encode(errors="replace")
    return LETTERS.get(word, word)


def unwrap(data):
    """The console's text in a whole log."""
    if data.lstrip()[:1] in (b"{", b'"'):
        try:
            data = _longest(json.loads(data))
        except (ValueError, RecursionError):
            pass  # it is cut, or no JSON
    if BASE64.match(data):
        try:
            return base64.b64decode(b"".join(data.split()), validate=True)
        except binascii.Error:
            pass
    return ESCAPES.sub(_unescaped, data) if ESCAPED.search(data) else data


class Wrapped:
    """A captured log on its way to the console.  A wrapped log is held back until its end."""

    def __init__(self):
        self._held = None  # False: pass everything on

    def take(self, data):
        """Some bytes, or b"" at the end.  Returns those for the console."""
        if self._held is None:
            first = data.lstrip()[:1] in (b"{", b'"')
            self._held = bytearray() if first or BASE64.match(data) or ESCAPED.search(data) else False
        if self._held is False:
            return data
        self._held += data
        if data and len(self._held) <= MAX_BYTES:
            return b""
        text, self._held = unwrap(bytes(self._held)), False
        return text


def _printed(command):
    # In a group of its own: what the command started ends with it.
    with subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True) as process:
        late = threading.Event()
        timer = threading.Timer(COMMAND_SECONDS, lambda: (late.set(), os.killpg(process.pid, signal.SIGKILL)))
        timer.start()
        try:
            text = process.stdout.read(MAX_BYTES + 1)
            if len(text) > MAX_BYTES:
                raise HostError(f"{command}: printed more than {MAX_BYTES >> 20} MiB")
            status = process.wait()
        finally:
            timer.cancel()
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    if status == -signal.SIGKILL and late.is_set():
        raise HostError(f"{command}: not ended after {COMMAND_SECONDS} s")
    if status != 0:
        raise HostError(f"{command}: status {status}: give a file, or a command that prints the log so far")
    return unwrap(text)


def _added(path, at):
    """The bytes of a file from `at` on, all of them if it is shorter, and their end."""
    try:
        with open(path, "rb") as file:
            file.seek(at if os.fstat(file.fileno()).st_size >= at else 0)
            return file.read(MAX_BYTES), file.tell()
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}") from None


def news(before, now):
    """The new part of a log, which may have lost its first bytes since."""
    if now.startswith(before):
        return now[len(before):]
    tail = before[-OVERLAP:]
    at = now.rfind(tail) if len(tail) == OVERLAP else -1  # an empty line is everywhere
    return now[at + len(tail):] if at >= 0 else b"\n" + now


def follow(source, console, timeout, silence):
    """Feed the console what comes to a file, or to what a command prints.  Returns why it ended, as line.listen() does."""
    is_file = os.path.exists(source)  # else it is a command, for good
    if is_file and not os.path.isfile(source):
        raise HostError(f"{source}: not a file that grows: leave out --follow")
    console.stop_at_end = True
    start = heard = time.monotonic()
    at, seen, why, failed = 0, b"", "", 0
    while not why:
        new = b""
        try:
            if is_file:
                new, at = _added(source, at)
            else:
                now = _printed(source)
                new, seen = news(seen, now), now
            failed = 0
        except HostError as e:
            failed += 1
            if not (at or seen) or failed == FAILURES:
                raise
            say(f"host: {e}; trying again")
        if new:
            console.feed(new)
            heard = time.monotonic()
        now = time.monotonic()
        if console.flooded:
            why = "flood"
        elif console.ended:
            why = "closed"
        elif timeout and now >= start + timeout:
            why = "timeout"
        elif silence and now >= heard + silence:
            why = "silent"
        else:
            time.sleep(FOLLOW_SECONDS)
    console.close()
    return why
