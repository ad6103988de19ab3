#!/usr/bin/env python3
"""The records of a run are on the screen as a table and as QR codes, and `scripts/barecpc read --qr` brings them back.

OVMF and AAVMF start the image with a screen of 800x600.  QEMU's dumps of the screen are the photographs.  The records have
the bytes that `scripts/barecpc read` gets from the serial line."""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / "cli")]
from qmp_guest import Points  # noqa: E402
from screen import MACHINES, ask, read_font, read_text  # noqa: E402

# The machine for x86-64 has two screens.
SIZE = {"x86_64": ["-device", "VGA,edid=on,xres=800,yres=600", "-device", "bochs-display,id=second"], "arm64": ["-device", "ramfb"]}
BARECPC = ROOT / "scripts/barecpc"
LIMIT_SECONDS = 600


def screens(arch, folder):
    """Boot, and dump each page once.  Returns the paths of the dumps, and the console."""
    control, log = folder / "control", folder / "log"
    words = [word for word in MACHINES[arch] if word not in ("VGA", "ramfb")]
    words.remove("-device")
    guest = subprocess.Popen(
        [*words, *SIZE[arch], "-append", "output=framed -- chase -r 1 -w 0", "-accel", "tcg", "-cpu", "max", "-m", "256",
         "-nodefaults", "-display", "none", "-serial", f"file:{log}", "-no-reboot", "-qmp", f"unix:{control},server=on,wait=off"],
        stdin=subprocess.DEVNULL)
    paths, last, end = [], b"", time.monotonic() + LIMIT_SECONDS
    try:
        while not control.exists():
            time.sleep(0.1)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(control))
            stream = s.makefile("rw")
            stream.readline()
            ask(stream, "qmp_capabilities")
            while b"barecpc: exit" not in log.read_bytes() and time.monotonic() < end:
                if b"barecpc: " + arch.encode() in log.read_bytes():
                    path = folder / f"{len(paths)}.ppm"
                    if arch == "x86_64":
                        ask(stream, "screendump", filename=str(path.with_suffix(".second")), device="second")
                    ask(stream, "screendump", filename=str(path))
                    if path.read_bytes() != last:
                        last = path.read_bytes()
                        paths.append(path)
                time.sleep(1)
    finally:
        guest.kill()
        guest.wait()
    return paths, log


def main():
    points, font = Points(), read_font()
    for arch in MACHINES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            paths, log = screens(arch, folder)
            wanted, got = folder / "wanted", folder / "got"
            subprocess.run([BARECPC, "read", "--results", wanted, log], capture_output=True, check=False)
            texts = [read_text(path.read_bytes(), font) for path in paths]
            table = [lines for lines in texts if lines[0].startswith("barecpc: ") and lines[1].startswith("PMU")]
            rows = sum(line.startswith("chase/") for lines in table[-1:] for line in lines)
            points.check(table and rows == len(wanted.read_bytes().splitlines()) > 0,
                         f"{arch}: a table has the machine, its PMU and a row for each record", *(table[-1] if table else ["no table"]))
            pictures = [path for path, lines in zip(paths, texts) if lines[0].startswith("all records, picture ")]
            done = subprocess.run([BARECPC, "read", "--results", got, "--qr", *pictures], capture_output=True, text=True, check=False)
            points.check(done.returncode == 0 and got.read_bytes() == wanted.read_bytes() != b"",
                         f"{arch}: the records of the QR codes are those of the serial line", f"{len(pictures)} pictures", done.stderr)
            if arch == "x86_64":
                # A page may turn between the two dumps.
                got.unlink(missing_ok=True)
                again = [path.with_suffix(".second") for path in paths]
                done = subprocess.run([BARECPC, "read", "--results", got, "--qr", *again], capture_output=True, text=True, check=False)
                points.check(done.returncode == 0 and got.read_bytes() == wanted.read_bytes() != b"",
                             f"{arch}: a second screen shows them, too", done.stderr)
            if len(pictures) > 1:
                done = subprocess.run([BARECPC, "read", "--results", got, "--qr", *pictures[1:]], capture_output=True, text=True,
                                      check=False)
                points.check(done.returncode == 125 and "pictures are missing: " in done.stderr,
                             f"{arch}: a missing picture is reported", done.stderr)
            points.check(log.read_bytes().rstrip().rpartition(b"\n")[2].startswith(b"barecpc: exit"), f"{arch}: the run ends")
            if os.environ.get("PAGES_KEEP"):
                subprocess.run(["cp", "-r", folder, os.environ["PAGES_KEEP"]], check=True)
    return points.end()


if __name__ == "__main__":
    raise SystemExit(main())
