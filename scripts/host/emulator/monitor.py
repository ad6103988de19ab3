"""Talks to QEMU's monitor, to learn why a guest ended and whether it advances.

QEMU starts with the guest stopped, and our first commands start it, so no event is lost.  The connection is a pair of
sockets that no other program can open.
QEMU, "QEMU Machine Protocol Specification" and "QEMU QMP Reference Manual".
"""

import json
import re
import select
import socket
import time

PC = re.compile(r"\b(?:RIP|PC)=([0-9a-f]{16})\b")


class Monitor:
    """The monitor of one QEMU.

    `shutdown` becomes the reason of the SHUTDOWN event, `registers` the last answer to ask_registers(), and
    `memory` that to ask_memory().
    """

    def __init__(self, hold):
        """With hold the guest stays stopped until a debugger starts it."""
        self._socket, self._qemu = socket.socketpair()
        self._bytes = b""
        self.shutdown = ""
        self.registers = None
        self.memory = None
        self._send("qmp_capabilities")
        if not hold:
            self._send("cont")

    def fileno(self):
        return self._socket.fileno()

    def qemu_fd(self):
        """The descriptor that QEMU inherits."""
        return self._qemu.fileno()

    def options(self):
        return ["-S", "-chardev", f"socket,id=monitor,fd={self.qemu_fd()}", "-mon", "chardev=monitor,mode=control"]

    def started(self):
        """Close QEMU's end of the connection, which QEMU has inherited."""
        self._qemu.close()

    def close(self):
        self._socket.close()
        self._qemu.close()

    def _send(self, command, name=None, **arguments):
        words = {"execute": command, "arguments": arguments, "id": name or command}
        try:
            self._socket.sendall(json.dumps(words).encode() + b"\n")
        except OSError:
            pass  # QEMU has ended

    def receive(self):
        """Read the messages that have arrived.  Returns False when QEMU has ended."""
        try:
            data = self._socket.recv(1 << 16)
        except OSError:
            data = b""
        *lines, self._bytes = (self._bytes + data).split(b"\n")
        for line in lines:
            self._take(json.loads(line))
        return bool(data)

    def _take(self, message):
        if message.get("event") == "SHUTDOWN":
            self.shutdown = message["data"]["reason"]
        elif message.get("id") in ("registers", "memory"):
            setattr(self, message["id"], message.get("return", ""))

    def _ask(self, name, line):
        """Run a line of the human monitor.  Its answer becomes the attribute `name`."""
        setattr(self, name, None)
        self._send("human-monitor-command", name, **{"command-line": line})

    def ask_registers(self):
        """Ask for all registers of all CPUs."""
        self._ask("registers", "info registers -a")

    def ask_memory(self, address, words):
        """Ask for words of 64 bits at a physical address."""
        self._ask("memory", f"xp /{words}gx {address:#x}")

    def _answer(self, name, seconds):
        """The answer to the last question, or "" if QEMU does not answer in time."""
        end = time.monotonic() + seconds
        while getattr(self, name) is None:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self], [], [], left)[0] or not self.receive():
                return ""
        return getattr(self, name)

    def where(self, seconds):
        """Stop the guest and return the PC of each CPU, or nothing if QEMU does not answer in time."""
        self._send("stop")
        self.ask_registers()
        return [int(pc, 16) for pc in PC.findall(self._answer("registers", seconds))]

    def memory_now(self, address, words, seconds):
        """The answer to ask_memory(), or "" if QEMU does not answer in time."""
        self.ask_memory(address, words)
        return self._answer("memory", seconds)
