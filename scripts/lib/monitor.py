"""QEMU's monitor: says why a guest ended and whether it advances.

QEMU starts with the guest stopped.  The monitor's first words let it run, so no event is lost.  The two talk over
a pair of sockets that no other program can open.
QEMU, "QEMU Machine Protocol Specification" and "QEMU QMP Reference Manual".
"""

import json
import re
import select
import socket
import time

PC = re.compile(r"\b(?:RIP|PC)=([0-9a-f]{16})\b")


class Monitor:
    """One QEMU's monitor.

    `shutdown` becomes the reason of the SHUTDOWN event, `registers` the last answer to ask_registers().
    """

    def __init__(self, hold):
        """With hold the guest stays stopped: a debugger starts it."""
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
        """QEMU inherits this descriptor."""
        return self._qemu.fileno()

    def options(self):
        return ["-S", "-chardev", f"socket,id=monitor,fd={self.qemu_fd()}", "-mon", "chardev=monitor,mode=control"]

    def started(self):
        """QEMU has its descriptor: ours shall be the only other one."""
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
        """Read what is there.  Returns False at the end of QEMU."""
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
        """All registers of all CPUs, as text, become `registers`."""
        self.registers = None
        self._send("human-monitor-command", **{"command-line": "info registers -a"})

    def where(self, seconds):
        """Stop the guest and return the PC of each CPU as text, or "" if QEMU does not answer in time."""
        end = time.monotonic() + seconds
        self._send("stop")
        self.ask_registers()
        while self.registers is None:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self], [], [], left)[0] or not self.receive():
                return ""
        return ", ".join(f"{int(pc, 16):#x}" for pc in PC.findall(self.registers))
