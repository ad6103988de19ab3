#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""scripts/barecpc read brings home the results of a run over a line that drops, changes, doubles and adds bytes.

QEMU's serial line goes through a proxy with a seed.  The proxy knows which frames it hit: every other frame must arrive,
and nothing else.  The lost frames are reported.  Over a clean line the results are those of `scripts/barecpc run`."""

import contextlib
import os
import pathlib
import random
import re
import resource
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
import zlib

from host.console import console
from host.emulator import qemu
from qmp_guest import Points

ROOT = pathlib.Path(__file__).resolve().parents[3]

BARECPC = str(ROOT / "scripts" / "barecpc")
SEEDS = 2000 if os.environ.get("BARECPC_CAMPAIGN") == "yes" else 100
SECONDS = 240  # of elapsed time, for what hangs
# `triad` has status 2 there, and prints words that look like a frame.
WORDS_OF_FRAMES = ["BARECPC-END", "BARECPC-BEGIN stdout 1 1 00000000", "BARECPC>-", "BARECPC>>-", "BBARECPC-"]
SUITE = "\n".join(["spin -r 1 -w 0", "list PAPI_tot", *(f'triad "{word}"' for word in WORDS_OF_FRAMES), "triad -r 1 -w 0 64", ""])
STATUS = 2
WORDS = "output=framed host.clock=virtual host.icount_shift=0 host.accel=tcg models=pmceid"
FRAME = re.compile(rb"BARECPC-BEGIN (\w+) (\d+) \d+ [0-9a-f]{8}\r?\n.*?\nBARECPC-END", re.DOTALL)
FOREIGN = [b"\0", b"\0" * 40, b"\r\n", b"\n", b"[    3.141592] usb 1-1: new device\r\n", b"login: ", b"BARECPC-", b"BARECPC-END\n",
           b"BARECPC-BEGIN json 2 10 00000000\n", b"BARECPC-BEGIN stdout 999999 999999999 00000000\n", b"\xff\xfd\x18", b">",
           b"barecpc: exit 0\n"]

points = Points()


class Corrupter:
    """Corrupts a stream of bytes.  `hit` are the changed and dropped positions, `torn` those with something before them."""

    def __init__(self, seed, rate):
        self._random, self._rate = random.Random(seed), rate
        self._at = self._next = 0
        self.hit, self.torn = set(), set()
        self._plan()

    def _plan(self):
        self._next += 1 + int(self._random.expovariate(self._rate)) if self._rate else 1 << 60

    def __call__(self, data):
        out = bytearray()
        start = self._at
        while self._at < start + len(data):
            here = self._at - start
            if self._at < self._next:
                end = min(len(data), self._next - start)
                out += data[here:end]
                self._at = start + end
                continue
            length = min(self._random.choice([1, 1, 1, 2, 16, 300]), len(data) - here)
            piece = data[here:here + length]
            match self._random.randrange(4):
                case 0:  # lost
                    self.hit.update(range(self._at, self._at + length))
                    piece = b""
                case 1:  # changed
                    piece = bytes([piece[0] ^ 1 << self._random.randrange(8)]) + piece[1:]
                    self.hit.add(self._at)
                case 2:  # twice
                    self.torn.update(range(self._at, self._at + length + 1))
                    piece += piece
                case 3:
                    self.torn.add(self._at)
                    piece = self._random.choice(FOREIGN) + piece
            out += piece
            self._at += length
            self._plan()
        return bytes(out)

    def spares(self, start, end):
        return self.hit.isdisjoint(range(start, end)) and self.torn.isdisjoint(range(start + 1, end))


class Frames:
    """The frames of a clean text: their streams and bytes, and their places, by their numbers."""

    def __init__(self, text):
        self.data, self.places = {}, {}
        arrived = []
        screen = console.Console(lambda stream, data: arrived.append((stream, data)), lambda line: None)
        screen.feed(text)
        self.clean = screen.fault is None and screen.ended
        places = [(int(match[2]), match[1], match.span()) for match in FRAME.finditer(text)]
        for number, stream, span in places:
            self.places[number] = span
        self.data = dict(zip([n for n, stream, _ in places if stream != b"exit"], arrived))
        self.last = max(self.places)


def check_seed(frames, text, seed):
    """Send the text over a line with this seed.  Returns an error of the reader, or "", and how many frames were lost."""
    chance = random.Random(-1 - seed)
    corrupt = Corrupter(seed, chance.choice([0.00005, 0.0005, 0.005]))
    accepted, damage = {}, []
    screen = None

    def arrive(stream, data):
        accepted[screen._last] = stream, data
    screen = console.Console(arrive, lambda line: None, damage.append)
    at = 0
    while at < len(text):
        length = chance.choice([1, 7, 100, 4096])
        screen.feed(corrupt(text[at:at + length]))
        at += length
    screen.close()
    for number, (stream, data) in accepted.items():
        if frames.data.get(number) != (stream, data):
            return f"a wrong frame {number} was accepted", 0
    spared = {n for n, span in frames.places.items() if corrupt.spares(*span)}
    if missing := spared - {frames.last} - set(accepted):
        return f"undamaged frames did not arrive: {sorted(missing)}", 0
    if frames.last in spared and screen.exit != STATUS or screen.exit not in (STATUS, None):
        return f"the status is {screen.exit}", 0
    lost = len(frames.data) - len(accepted)
    if lost and not damage:
        return f"{lost} frames are missing without a word", 0
    if screen.exit is not None:
        reported = re.match(rf"lost frames: (\d+) of {frames.last} ", screen.fault) if screen.fault else None
        if lost != (int(reported[1]) if reported else 0) or screen.fault and not reported:
            return f"{lost} frames are missing, but the report is: {screen.fault}", 0
    return "", lost


def read(*words, **how):
    return subprocess.Popen([BARECPC, "read", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=how.pop("stdin", subprocess.DEVNULL), **how)


def finish(reader):
    """Status, standard output and the lines of standard error."""
    out, err = reader.communicate(timeout=SECONDS)
    return reader.returncode, out, err.decode(errors="replace").splitlines()


def listen():
    return socket.create_server(("127.0.0.1", 0))


def address(server):
    return f"tcp:127.0.0.1:{server.getsockname()[1]}"


def boot(archive, corrupt, put):
    """Run QEMU, whose serial line goes over TCP through the proxy to put().  Returns the bytes that QEMU sent."""
    text = bytearray()
    with listen() as server:
        words = qemu.command(qemu.Machine("arm64"), qemu.build_file("arm64", "Image"), WORDS, archive)
        words[words.index("stdio")] = address(server)
        guest = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        watch = threading.Timer(SECONDS, guest.kill)
        watch.start()
        try:
            server.settimeout(SECONDS)
            with server.accept()[0] as line:
                while data := line.recv(4096):
                    text += data
                    put(corrupt(data))
        finally:
            guest.wait()
            watch.cancel()
    return bytes(text)


def check_live(folder, archive):
    """A run of QEMU over TCP with a bad line.  Returns the clean text."""
    results = folder / "live.jsonl"
    corrupt = Corrupter(1, 0.0002)
    with listen() as server:
        reader = read(address(server), "--results", str(results))
        with server.accept()[0] as line:
            text = boot(archive, corrupt, line.sendall)
    status, _, err = finish(reader)
    frames = Frames(text)
    points.check(frames.clean and len(frames.data) > 20, "QEMU's own text is clean")
    records = {n: data for n, (stream, data) in frames.data.items() if stream == "json"}
    spared = [data.strip() for n, data in records.items() if corrupt.spares(*frames.places[n])]
    lines = results.read_bytes().splitlines()
    points.check(0 < len(spared) < len(records) and all(data in lines for data in spared), "tcp, live, bad line: undamaged records arrive",
                 f"{len(spared)} of {len(records)}; {len(lines)} lines")
    points.check(all(line in [r.strip() for r in records.values()] for line in lines), "tcp, live, bad line: no other record arrives")
    points.check(status == 125 and "damaged" in err[-1] and re.search(r"lost frames: \d+", err[-1]), "tcp, live, bad line: status 125",
                 str(status), *err[-3:])
    return text


def check_clean(name, reader, results, wanted):
    status, out, err = finish(reader)
    good = (status, out, results.read_bytes()) == (STATUS, wanted.out, wanted.records) and err[-1] == f"barecpc: exit {STATUS}"
    points.check(good, f"{name}: the status, output and records of `barecpc run`", str(status), *err[-3:])


class Wanted:
    """The results of the same run by `barecpc run`."""

    def __init__(self, folder, archive, *options):
        results = folder / "run.jsonl"
        done = subprocess.run([BARECPC, "run", "--arch", "arm64", "--accel", "tcg", "--payload", archive, "--results", results, *options],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
        self.status, self.out, self.records = done.returncode, done.stdout, results.read_bytes()
        self.err = done.stderr.decode(errors="replace").splitlines()


def wait_raw(terminal, reader):
    end = time.monotonic() + SECONDS
    while termios.tcgetattr(terminal)[3] & termios.ICANON and reader.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


def send(terminal, data, reader):
    """Write until the reader has ended: it need not take all."""
    os.set_blocking(terminal, False)
    while data and reader.poll() is None:
        try:
            data = data[os.write(terminal, data[:1000]):]
        except BlockingIOError:
            time.sleep(0.01)


def check_pty(folder, text, wanted):
    """A pseudo-terminal as DEVICE: raw at 115200 bits/s while it is read, and then as before."""
    results = folder / "pty.jsonl"
    ours, theirs = os.openpty()
    name = os.ttyname(theirs)
    before = termios.tcgetattr(theirs)
    reader = read(name, "--results", str(results))
    wait_raw(theirs, reader)
    now = termios.tcgetattr(theirs)
    points.check(now[:2] == [0, 0] and now[3] == 0 and now[2] & termios.CSIZE == termios.CS8 and now[4:6] == [termios.B115200] * 2
                 and not now[2] & (termios.PARENB | termios.CSTOPB), "pty: raw, 115200 8N1", str(now[:6]))
    status, _, err = finish(read(name))
    points.check(status == 125 and err == [f"host: {name}: another program reads this line: end it first"], "pty: one reader at a time", *err)
    send(ours, text, reader)
    check_clean("pty", reader, results, wanted)
    points.check(termios.tcgetattr(theirs) == before, "pty: its settings are restored")
    for what, bad, line in (("a bad line", Corrupter(3, 0.0005)(text), "lost frames: "),
                            ("a line that is cut", text[:len(text) // 2], "ends before the closing line")):
        reader = read(name, "--silence", "2")
        wait_raw(theirs, reader)
        send(ours, bad, reader)
        if what != "a bad line":
            time.sleep(0.2)
            os.close(theirs)
            os.close(ours)
        status, _, err = finish(reader)
        points.check(status == 125 and line in err[-1], f"pty: {what}", str(status), *err[-3:])


def check_rate():
    """A wrong rate makes other bytes of text.  The table and the menus of firmware are text."""
    hint = "host: what comes is not text: end this, and give the board's rate by --baud"
    menu = "\x1b[01;01H\u250c\u2500\u2500\u2510 Boot Manager\r\n".encode() * 40
    for name, data, wanted in (("noise", random.Random(1).randbytes(1000), [hint]), ("the menus of firmware", menu, [])):
        ours, theirs = os.openpty()
        reader = read(os.ttyname(theirs), "--timeout", "5")
        wait_raw(theirs, reader)
        send(ours, data, reader)
        status, _, err = finish(reader)
        points.check(status == 124 and [line for line in err if line == hint] == wanted, f"a wrong rate: {name}", str(status), *err[-5:])
        os.close(ours)
        os.close(theirs)


def framed(number, stream, data):
    what = b"%s %d %d" % (stream, number, len(data))
    return b"BARECPC-BEGIN %s %08x\n%s\nBARECPC-END\n" % (what, zlib.crc32(what + data), data)


def check_files(folder, text, wanted):
    log, results = folder / "log", folder / "results"

    def reads(content, *options):
        log.write_bytes(content)
        return read(log, "--results", str(results), *options)

    check_clean("a file", reads(text), results, wanted)
    check_clean("a file with CR LF", reads(text.replace(b"\n", b"\r\n")), results, wanted)
    with open(log, "wb") as out:
        out.write(text)
    with open(log, "rb") as source:
        check_clean("standard input", read("-", "--results", str(results), stdin=source), results, wanted)

    def fails(name, content, pattern, *options):
        status, _, err = finish(reads(content, *options))
        points.check(status == 125 and re.search(pattern, err[-1]), name, str(status), *err[-3:])
    frames = Frames(text)
    start, end = frames.places[frames.last]
    fails("a file that ends in the middle", text[:len(text) // 2], "ends before the closing line")
    fails("a file that ends in a long record, in a short line", framed(1, b"json", b'{"a":"' + b"x" * 5000 + b'"}')[:3000],
          r"ends before the closing line.{,100}; the last line was: \{\"a\":\"x{10,200}\.\.\.$")
    fails("an empty file", b"", "ends before the closing line; nothing came$")
    fails("a closing line without its frame", text[:start] + text[end:], f"frame with the status is lost: the closing line says exit {STATUS}")
    fails("two runs in one long file", text + b"\n" * (1 << 17) + framed(1, b"json", b"{}"), "frame 1 .* came after the end of the run")
    fails("a machine that starts again", framed(1, b"json", b'{"a":1}') + framed(1, b"json", b"{}") + framed(2, b"exit", b"0"),
          "frame 1 came after frame 1: the machine started again$")
    doubled = framed(1, b"json", b"{}") * 2 + framed(2, b"exit", b"0") + b"barecpc: exit 0\n"
    status, _, err = finish(reads(doubled + doubled[:20]))
    points.check((status, results.read_bytes(), err[0]) == (0, b"{}\n", "host: frame 1 (json, 2 bytes) came twice"),
                 "a frame that comes twice counts once", str(status), *err)
    third = frames.places[frames.last // 3][0]
    fails("a lost frame", text[:third] + text[frames.places[frames.last // 3][1]:],
          rf"lost frames: 1 of {frames.last} \({frames.last // 3}\)$")


def check_full(folder, text, wanted):
    """A disk without room loses no record, and no other file."""
    log, results = folder / "log", folder / "results"
    log.write_bytes(text)
    room = len(wanted.records) // 2
    status, out, err = finish(read(log, "--results", str(results), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))))
    kept = results.read_bytes()
    points.check(0 < len(kept) <= room and kept.endswith(b"\n") and wanted.records.startswith(kept), "a full disk: the file has whole records",
                 f"{len(kept)} of {len(wanted.records)} bytes")
    rest = [line for line in err if line.encode() in wanted.records.splitlines()]
    points.check("".join(line + "\n" for line in rest).encode() == wanted.records[len(kept):], "a full disk: the others are on standard error", *err[:9])
    points.check((status, out, err[-1]) == (125, wanted.out, f"host: {results}: File too large: copy the other records from standard error"),
                 "a full disk: the program's output arrives, and the last line says what to do", str(status), err[-1])
    log.write_bytes(framed(1, b"json", b'{"file":"a","text":"1"}') + framed(2, b"json", b'{"file":"b","text":"2"}') + framed(3, b"exit", b"0"))
    status, _, err = finish(read(log, "--out", "a=/dev/full", "--out", f"b={results}"))
    points.check((status, err, results.read_bytes()) == (125, ["host: /dev/full: not written: No space left on device"], b"2"),
                 "--out to a full disk: it is named, and the other file is written", str(status), *err)


def check_cut():
    """A panic cuts a frame.  Its lines stay whole, and the closing line counts, however the bytes arrive."""
    panic = ["cpu: machine check: CPU 0 bank 3", "panic: machine check: " + "x" * 150, "  0xffffffff800072ac arch_putc+0x4c",
             "barecpc: exit 125"]
    text = framed(1, b"stdout", b"four")[:-len("CPC-END\n")] + "\n".join(["", *panic, ""]).encode()
    wrong = []
    for size in range(1, len(text) + 1):
        lines = []
        parser = console.Console(lambda *_: None, lines.append)
        for at in range(0, len(text), size):
            parser.feed(text[at:at + size])
        parser.close()
        if parser.exit != 125 or [line for line in lines if line in panic] != panic:
            wrong.append(f"{size} bytes at a time: exit {parser.exit}: {lines}")
    points.check(not wrong, "a panic inside a frame is read, in pieces of any size", *wrong[:3])


def check_ends():
    """Limits of time, and mistakes."""
    with listen() as server:
        timed, silent = read(address(server), "--timeout", "0.5"), read(address(server), "--silence", "0.5")
        with contextlib.closing(server.accept()[0]), contextlib.closing(server.accept()[0]):
            status, _, err = finish(timed)
            points.check((status, err) == (124, ["host: timed out after 0.5 s; nothing came"]), "--timeout", str(status), *err)
            status, _, err = finish(silent)
            points.check(status == 125 and err[-1].endswith(": nothing came for 0.5 s; nothing came"), "--silence", str(status), *err)
        closed = address(server)
    for name, words, line in (("no such file", ["/none"], "/none: No such file or directory"), ("a folder", ["/tmp"], "/tmp: Is a directory"),
                              ("no one listens", [closed], f"{closed}: Connection refused"),
                              ("no source", [], "give a log, a serial line, tcp:HOST:PORT or -; see barecpc read --help"),
                              ("no port", ["tcp:there"], "tcp:there: not of the form tcp:HOST:PORT"),
                              ("an odd rate", ["--baud", "12345", "/dev/null"], "--baud 12345: not a rate of serial lines, such as 115200; see "
                               "barecpc read --help")):
        status, _, err = finish(read(*words))
        points.check(status == 125 and err == [f"host: {line}"], name, str(status), *err)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "suite").write_text(SUITE)
        archive = folder / "suite.cpio"
        subprocess.run([ROOT / "scripts" / "mkcpio", "-o", archive, folder / "suite"], check=True)
        wanted = Wanted(folder, archive)
        points.check(wanted.status == STATUS and wanted.records.count(b"\n") > 10, "the run itself", str(wanted.status), *wanted.err[-3:])
        named = [word for word in WORDS_OF_FRAMES if f'triad: elements: not a number: "{word}"' in wanted.err]
        points.check(named == WORDS_OF_FRAMES, "output that looks like a frame arrives unchanged", str(named), *wanted.err)
        plain = Wanted(folder, archive, "--append", "output=text")
        points.check((plain.status, plain.records) == (STATUS, wanted.records), "output=text: the same records", str(plain.status), *plain.err[-3:])
        text = check_live(folder, archive)
        frames = Frames(text)
        wrong, lost = [], 0
        for seed in range(SEEDS):
            why, count = check_seed(frames, text, seed)
            lost += count
            wrong += [f"seed {seed}: {why}"] if why else []
        points.check(not wrong, f"{SEEDS} seeds: what was not hit arrives, and nothing else", *wrong[:10])
        points.check(0 < lost < SEEDS * len(frames.data), "they lost frames, but not all", f"{lost} lost")
        check_files(folder, text, wanted)
        check_pty(folder, text, wanted)
        check_rate()
        check_full(folder, text, wanted)
        check_cut()
    check_ends()
    return points.end()


sys.exit(main())
