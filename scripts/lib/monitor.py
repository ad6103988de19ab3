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

    `shutdown` becomes the reason of the SHUTDOWN event, `registers` the last answer to ask_registers().
    """

    def __init__(self, hold):
        """With hold the guest stays stopped until a debugger starts it."""
        self._socket, self._qemu = socket.socketpair()
        self._bytes = b""
        self.shutdown = ""
        self.registers = None
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

    def _send(self, command, **arguments):
        words = {"execute": command, "arguments": arguments, "id": command}
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
        elif message.get("id") == "human-monitor-command":
            self.registers = message.get("return", "")

    def ask_registers(self):
        """Ask for all registers of all CPUs.  The answer becomes `registers`, as text."""
        self.registers = None
        self._send("human-monitor-command", **{"command-line": "info registers -a"})

    def where(self, seconds):
        """Stop the guest and return the PC of each CPU, or nothing if QEMU does not answer in time."""
        end = time.monotonic() + seconds
        self._send("stop")
        self.ask_registers()
        while self.registers is None:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self], [], [], left)[0] or not self.receive():
                return []
        return [int(pc, 16) for pc in PC.findall(self.registers)]
