#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A report of the program `board` comes home by the stick and by QR codes as by the serial line, and the parsers read it.

OVMF and AAVMF start the program from a stick, with a screen of 800x600.  QEMU's dumps of the screen are the photographs."""

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from board_reports import Report
from qmp_guest import ROOT, Points
from screen import ask
from stick import MACHINES, Board

SCREENS = {"x86_64": ["-device", "VGA,edid=on,xres=800,yres=600"], "arm64": ["-device", "ramfb"]}
BARECPC = ROOT / "scripts/barecpc"


class ScreenBoard(Board):
    """A board whose screen is photographed while a run shows its records."""

    def __init__(self, arch, folder):
        super().__init__(arch, folder, "output=framed -- board")
        self.pictures, self.monitor, self.off = [], self.folder / "monitor", threading.Event()

    def disk(self, readonly):
        return [*super().disk(readonly), *SCREENS[self.arch], "-qmp", f"unix:{self.monitor},server=on,wait=off"]

    def photograph(self):
        """Dump each page once."""
        last = b""
        while b"BARECPC-BEGIN json" not in (self.log.read_bytes() if self.log.exists() else b""):
            if self.off.wait(0.2):
                return
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(str(self.monitor))
                stream = s.makefile("rw")
                stream.readline()
                ask(stream, "qmp_capabilities")
                while not self.off.wait(1):
                    path = self.folder / f"{len(self.pictures)}.ppm"
                    ask(stream, "screendump", filename=str(path))
                    if path.read_bytes() != last:
                        last = path.read_bytes()
                        self.pictures.append(path)
        except (OSError, ValueError):
            pass  # the machine is off

    def run(self):
        """Run the program to the reset."""
        camera = threading.Thread(target=self.photograph)
        camera.start()
        try:
            return self.boot()
        finally:
            self.off.set()
            camera.join()

    def report(self, *words):
        """The report that `barecpc read` gets, and its messages."""
        path = self.folder / "report"
        path.unlink(missing_ok=True)
        done = subprocess.run([BARECPC, "read", "--results", self.folder / "records", "--out", f"board={path}", *words],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return path.read_text() if path.exists() else "", done.stderr


def from_records(lines):
    """The report in a file of records."""
    return "".join(record["text"] for record in map(json.loads, lines.splitlines()) if record.get("file") == "board")


def report_comes_home(points, board):
    arch = board.arch
    console = board.run()
    wanted, why = board.report(board.log)
    points.check(wanted and not (wrong := Report(wanted).wrong()), f"{arch}: the parsers read the serial line's report",
                 why, *(wrong if wanted else console.splitlines()[-5:]))
    if shutil.which("zbarimg"):
        began = time.monotonic()
        got, why = board.report("--qr", *board.pictures)
        points.check(wanted and got == wanted, f"{arch}: the report of the QR codes is that of the serial line",
                     f"{len(board.pictures)} pictures, {time.monotonic() - began:.0f} s", *why.splitlines()[-3:])
    else:
        points.skip(f"{arch}: the report of the QR codes", "zbarimg not found: scripts/setup --campaign installs it")
    board.off.set()
    console = board.boot()
    got = from_records(board.file("barecpc-results.jsonl"))
    points.check(wanted and got == wanted, f"{arch}: the report of the stick's records is that of the serial line",
                 *console.splitlines()[-5:])
    path = board.folder / "barecpc.log"
    path.write_bytes(board.file("barecpc.log"))
    got, why = board.report(path)
    points.check(wanted and got == wanted, f"{arch}: so is the report of the stick's log", why)


def main():
    points = Points()
    for arch in MACHINES:
        with tempfile.TemporaryDirectory() as folder:
            report_comes_home(points, ScreenBoard(arch, folder))
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
