#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The records of a run are on the screen as a table and as QR codes, and `scripts/barecpc read --qr` brings them back.

OVMF and AAVMF start the image with a screen of 800x600.  QEMU's dumps of the screen are the photographs.  The records have
the bytes that `scripts/barecpc read` gets from the serial line.  A key turns a page at once."""

import contextlib
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time

from qmp_guest import Points, connect
from screen import MACHINES, ask, read_font, read_text

ROOT = pathlib.Path(__file__).resolve().parents[3]

# The machine for x86-64 has two screens.
SIZE = {"x86_64": ["-device", "VGA,edid=on,xres=800,yres=600", "-device", "bochs-display,id=second"], "arm64": ["-device", "ramfb"]}
BARECPC = ROOT / "scripts/barecpc"
LIMIT_SECONDS = 600
PAGE_SECONDS = 10
TRIES = 5


def press_key(arch, stream, line):
    """On x86-64 a key of the keyboard, on arm64 a character on the serial line."""
    if arch == "x86_64":
        ask(stream, "send-key", keys=[{"type": "qcode", "data": "spc"}])
    else:
        line.send(b" ")


def serial_line(arch, path, log):
    """QEMU's words for it.  Its 16550 loses characters that a socket does not take at once; its PL011 waits."""
    if arch == "x86_64":
        return ["-serial", f"file:{log}"]
    return ["-chardev", f"socket,id=line,path={path},server=on,wait=off,logfile={log}", "-serial", "chardev:line"]


def drain(line):
    """QEMU waits if nothing reads the serial line."""
    try:
        while line.recv(4096):
            pass
    except OSError:
        pass  # closed


def screens(arch, folder, keys=False):
    """Boot, and dump each page once, or press keys all the time.  Returns the paths of the dumps, the console, and how many
    seconds went by after the first record."""
    control, log, serial = folder / "control", folder / "log", folder / "serial"
    words = [word for word in MACHINES[arch] if word not in ("VGA", "ramfb")]
    words.remove("-device")
    guest = subprocess.Popen(
        [*words, *SIZE[arch], "-append", "output=framed -- chase -r 1 -w 0", "-accel", "tcg", "-cpu", "max", "-m", "256",
         "-nodefaults", "-display", "none", *serial_line(arch, serial, log), "-no-reboot", "-qmp", f"unix:{control},server=on,wait=off"],
        stdin=subprocess.DEVNULL)
    paths, last, first, end = [], b"", 0, time.monotonic() + LIMIT_SECONDS
    try:
        with connect(control, guest) as s, contextlib.ExitStack() as lines:
            line = None
            if arch == "arm64":
                line = lines.enter_context(connect(serial, guest))
                threading.Thread(target=drain, args=(line,), daemon=True).start()
            stream = s.makefile("rw")
            stream.readline()
            ask(stream, "qmp_capabilities")
            while b"barecpc: exit" not in log.read_bytes() and guest.poll() is None and time.monotonic() < end:
                if b"BARECPC-BEGIN json" in log.read_bytes():
                    first = first or time.monotonic()
                    if keys:
                        press_key(arch, stream, line)
                if not keys and b"barecpc: " + arch.encode() in log.read_bytes():
                    path = folder / f"{len(paths)}.ppm"
                    if arch == "x86_64":
                        ask(stream, "screendump", filename=str(path.with_suffix(".second")), device="second")
                    ask(stream, "screendump", filename=str(path))
                    if path.read_bytes() != last:
                        last = path.read_bytes()
                        paths.append(path)
                time.sleep(0.2 if keys else 1)
            took = time.monotonic() - first
    finally:
        guest.kill()
        guest.wait()
    return paths, log, took


def check_keys(arch, most_seconds):
    """Without keys no run is so quick, so one quick run is a proof.  On a busy machine others are slow."""
    claim, took = f"{arch}: keys turn the pages", []
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory() as name:
            _, log, seconds = screens(arch, pathlib.Path(name), keys=True)
            if b"barecpc: exit" in log.read_bytes() and seconds < most_seconds:
                return True, claim
            took.append(seconds)
    return False, claim, *took


def main():
    points, font = Points(), read_font()
    for arch in MACHINES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            paths, log, took = screens(arch, folder)
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
            # A dump may show a page that is half drawn, so that a page has several.
            titles = {found[0] for lines in texts if (found := re.match(r"all records, picture \d+ of \d+:", lines[0]))}
            second = [path for path, lines in zip(paths, texts) if lines[0].startswith("all records, picture 2 ")]
            done = subprocess.run([BARECPC, "read", "--results", got, "--qr", *second], capture_output=True, text=True, check=False)
            points.check(done.returncode == 125 and "pictures are missing: " in done.stderr, f"{arch}: a missing picture is reported", done.stderr)
            pages = 1 + len(titles)
            points.check(took > pages * PAGE_SECONDS, f"{arch}: without a key each of {pages} pages stays", took)
            points.check(log.read_bytes().rstrip().rpartition(b"\n")[2].startswith(b"barecpc: exit"), f"{arch}: the run ends")
            if os.environ.get("PAGES_KEEP"):
                subprocess.run(["cp", "-r", folder, os.environ["PAGES_KEEP"]], check=True)
        points.check(*check_keys(arch, (pages - 1) * PAGE_SECONDS))
    return points.end()


if __name__ == "__main__":
    raise SystemExit(main())
