"""Follows what a guest runs, by reading the kernel's struct run_progress in its memory (kern/sys/progress.c).

QEMU's monitor reads the memory.  That changes nothing in the guest.
"""

import collections
import functools
import re
import struct
import time

from host import lazy, terminal
from host.results import records

symbols = lazy("host.programs.symbols")

MAGIC = 0x7373657267637062
NAME_BYTES = 88
WORDS = 5 + NAME_BYTES // 8
# QEMU, "The Linux/arm64 boot protocol" and hw/arm/boot.c: an Image without an offset starts 2 MiB above the memory's start.
ARM64_IMAGE = {"": 0x40200000, "raspi4b": 0x200000}
DRAW_SECONDS = 0.25
TOOLS = ("stat", "record")  # of the image: they run another program
LOOKS = 20  # in the time of a run that no terminal shows


class State(collections.namedtuple("State", "name started now done total")):
    """The program that runs.  Times are ns of the guest."""

    @property
    def runs(self):
        return f"{self.done} of {self.total} runs" if self.total else ""


def parse(text):
    """The state in an answer of the monitor, or None."""
    words = [int(word, 16) for word in re.findall(r"\b0x([0-9a-f]{16})\b", text)]
    if len(words) != WORDS or words[0] != MAGIC:
        return None
    name = records.clean(struct.pack(f"<{NAME_BYTES // 8}Q", *words[5:]).split(b"\0")[0].decode(errors="replace"))
    return State(name, words[1], words[2], words[3], words[4]) if name else None


def place_of_state(image, arch, machine):
    """The physical address of the struct in this image's kernel, or None.

    UEFI places arm64's kernel anywhere.  There the magic is not found.
    """
    kernel = symbols.kernel_of(image)
    address = kernel and kernel.global_symbol("run_progress")
    if not address:
        return None
    if arch == "arm64":
        return address - symbols.KERNEL + ARM64_IMAGE.get(machine, ARM64_IMAGE[""])
    return kernel.physical(address)


class Progress:
    """Asks the monitor now and then, and shows the answers at a terminal if `shown`.  find() gives the place of the state.
    The program `subject` of a tool is named in place of the tool."""

    def __init__(self, find, shown, timeout, subject=""):
        self._find = functools.cache(find)
        self._subject = subject
        self._shown = shown and terminal.interactive()
        self._pause = DRAW_SECONDS if self._shown else timeout / LOOKS if timeout else None
        self._begin = time.monotonic()
        self._since = None  # when the program was seen first
        self.state = None
        self.due = self._begin + self._pause if self._pause else None

    def ask(self, monitor):
        """Ask for the state, if it is due, and draw the line."""
        self.due = time.monotonic() + self._pause
        if self._find() is not None:
            monitor.ask_memory(self._find(), WORDS)
        if self._shown:
            terminal.draw(self._line())

    def take(self, text):
        """The monitor's answer."""
        state = parse(text)
        if state and state.name in TOOLS and self._subject:
            state = state._replace(name=self._subject)
        if state and (self.state is None or (state.name, state.started) != (self.state.name, self.state.started)):
            self._since = time.monotonic()
        self.state = state or self.state

    def look(self, monitor, seconds):
        """Take the state of a guest that was stopped."""
        seen = self._since
        if self._find() is not None:
            self.take(monitor.memory_now(self._find(), WORDS, seconds))
        if self._since != seen:
            self._since = None  # it started after the last look

    def _line(self):
        parts = []
        if self.state:
            parts = [self.state.runs, f"{(self.state.now - self.state.started) / 1e9:.3f} s in the guest" if self.state.total else ""]
        parts.append(f"{time.monotonic() - self._begin:.0f} s here")
        return f"{self.state.name if self.state else 'starting'}: {', '.join(part for part in parts if part)}"

    def where(self):
        """The program and how long it has run, for a run that is ended; or ""."""
        if self.state is None:
            return ""
        runs = f", {self.state.runs}" if self.state.runs else ""
        elapsed = f", at least {time.monotonic() - self._since:.0f} s after its start" if self._since else ""
        return f": {self.state.name}{elapsed}{runs}"
