"""Firmware that uses five-level paging starts the image.

No firmware of the distribution does.  So QEMU's server for gdb stops OVMF, adds a fifth level above its page tables, and
lets it continue.
"""

import pathlib
import socket
import subprocess
import time

from loaders.machine import LIMIT_S, OVMF, Route, command, make_disk, wrong

ROUTE = Route("x86_64", "OVMF", "five-level paging", None)
# Numbers of registers: QEMU's gdb-xml/i386-64bit.xml.
CR3, CR4 = 29, 30
LA57 = 1 << 12  # Intel SDM vol. 3A, "Control Registers"
ENTRY = 0x23  # present, writable, accessed: Intel SDM vol. 3A, "Paging-Structure Entries"
LAST_TABLES = 256 << 20  # the tables of OVMF's last phase are in the upper half of the memory
TOP_TABLE = 0x5000  # a page that OVMF leaves free


class Gdb:
    """A client of the "GDB Remote Serial Protocol" (gdb's manual)."""

    def __init__(self, path):
        self._stream = socket.socket(socket.AF_UNIX)
        self._stream.connect(str(path))
        self._file = self._stream.makefile("rb")

    def _answer(self):
        while self._file.read(1) not in (b"$", b""):
            pass
        answer = b""
        while (byte := self._file.read(1)) not in (b"#", b""):
            answer += byte
        self._file.read(2)  # the checksum
        self._stream.sendall(b"+")
        return answer.decode()

    def _send(self, text):
        self._stream.sendall(f"${text}#{sum(text.encode()) & 255:02x}".encode())

    def ask(self, text):
        self._send(text)
        return self._answer()

    def run(self, seconds):
        """Let the machine run for a short time."""
        self._send("c")
        time.sleep(seconds)
        self._stream.sendall(b"\x03")
        self._answer()

    def detach(self):
        self._send("D")

    def register(self, number):
        return int.from_bytes(bytes.fromhex(self.ask(f"p{number:x}")), "little")

    def set_register(self, number, value):
        return self.ask(f"P{number:x}={value.to_bytes(8, 'little').hex()}") == "OK"


def add_level(gdb):
    """Run until firmware has its last tables.  Add a level.  Return whether the CPU has it."""
    gdb.ask("qSupported:xmlRegisters=i386")
    gdb.ask("qXfer:features:read:target.xml:0,800")  # now registers have the numbers of that file
    while (tables := gdb.register(CR3)) < LAST_TABLES:
        gdb.run(0.02)
    gdb.ask(f"M{TOP_TABLE:x},8:{(tables | ENTRY).to_bytes(8, 'little').hex()}")
    gdb.set_register(CR3, TOP_TABLE)
    gdb.set_register(CR4, gdb.register(CR4) | LA57)
    return gdb.register(CR4) & LA57 != 0


def boots(folder):
    """Return '', or why the run is not right, and the console's text."""
    path = pathlib.Path(folder) / "gdb"
    options = ["-bios", OVMF, "-drive", f"format=raw,file={make_disk('x86_64', folder)}", "-S", "-gdb", f"unix:{path},server=on,wait=off"]
    with subprocess.Popen(command("x86_64", options), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as guest:
        try:
            while not path.exists() and guest.poll() is None:
                time.sleep(0.05)
            gdb = Gdb(path)
            if not add_level(gdb):
                return "the CPU does not take five levels", ""
            gdb.detach()
            text = guest.communicate(timeout=LIMIT_S)[0].decode(errors="replace").replace("\r", "")
        finally:
            guest.kill()
    return wrong(ROUTE, guest.returncode, text), text
