#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Records that `pack` sent through a console that keeps its last 64 KB come home, or their loss is named.

The records are made, with noise as of a real clock.  build/host/tests/payloads/pack_lines packs them with the code of `pack`.
The program itself runs in an image of each architecture."""

import base64
import functools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

from host.console import clouds, console, line, outputs, packed
from qmp_guest import Points
from schema import faults

ROOT = pathlib.Path(__file__).resolve().parents[3]
BARECPC = ROOT / "scripts" / "barecpc"
PACK_LINES = ROOT / "build/host/tests/payloads/pack_lines"
PACK_DIES = ROOT / "build/host/tests/payloads/pack_dies"
KEPT = 64 << 10  # what AWS keeps
STEP = 4 << 10
LOG = b"barecpc: x86_64, version 1\r\nmem: 256 MiB\n"
MACHINE = {"arch": "x86_64", "cpu": "a CPU", "pmu": "a PMU", "pics": [{"pic": n, "width": 48, "unproved": None} for n in range(8)], "smp": "x" * 300}
# Each point of the cuts would unfold the same records again.
packed.unfold = functools.lru_cache(None)(packed.unfold)
packed.row = functools.lru_cache(None)(packed.row)
points = Points()


def quantity(chance, base, noise, over):
    """A quantity as a program writes it, by the host's own aggregates: pack would not fold them if they were others."""
    raws = [[least + int(abs(chance.gauss(0, spread))) for _ in range(5)] for least, spread in ((base, noise), (over, 4))]
    texts = [";".join([str(min(raw)), ",".join(str(value - min(raw)) for value in raw)]) if len(set(raw)) > 1 else f"{raw[0]}*5" for raw in raws]
    return packed.unfold(b"\1%s\2" % "|".join(texts).encode()).decode()


def made(count):
    """Records of varied programs, each with its row of the table."""
    chance, records = random.Random(count), []
    events = ["".join(chance.choice("ABCDEIMORSTU") for _ in range(6)) + "." + "".join(chance.choice("ACDEFILMNOST_") for _ in range(9))
              for _ in range(200)]
    for number in range(count):
        size, name, event = 2 ** chance.randint(5, 24), chance.choice(["triad", "chase", "copy"]), chance.choice(events)
        tick = int(size * chance.uniform(1, 20))
        zeros = ",".join(f'"{word}":[0,0,0,0,0]' for word in ("nmis", "smis", "throttles", "errors", "settings"))
        rate = ",".join(f"{chance.gauss(1.31, 0.002):.3f}" for _ in range(5))
        head = json.dumps({"schema": 1, "payload": name, "arguments": ["-e", "A.B"], "label": f"{name}/{size}", "event": event, "code": 60 + number,
                           "pic": chance.randint(0, 7), "privilege": "user", "status": "counted", "runs": 5, "warm_ups": 1, "iterations": size},
                          separators=(",", ":"))[:-1]
        count_text = quantity(chance, int(size * chance.uniform(0.01, 30)), size * chance.choice([0, 0.003]), 57)
        each = packed.ratio(json.loads(count_text)["net"], size)
        line = (f'{head},"count":{count_text},"per_iteration":{each},"tick":{quantity(chance, tick, tick * 0.003, 76)},'
                f'"hrtime_ns":{quantity(chance, tick // 2, tick * 0.001, 40)},"conditions":{{"measured":{{"interrupts":'
                f'[{chance.randint(0, 1)},0,0,0,0],{zeros},"rate":[{rate}],"disturbed":[],"excluded":0}},"overhead":null}},"verified":true,'
                f'"machine":{json.dumps(MACHINE, separators=(",", ":"))}}}').encode()
        records.append((packed.row(event.encode() + b":u", line), line))
    return records


def framed(number, stream, data):
    what = b"%s %d %d" % (stream, number, len(data))
    return b"BARECPC-BEGIN %s %08x\n%s\nBARECPC-END\n" % (what, zlib.crc32(what + data), data)


def console_of(frames):
    """The console's text of a run that sent these records."""
    texts = [framed(number, b"json", frame + b"\n") for number, frame in enumerate(frames, 1)]
    return LOG + b"".join(texts) + framed(len(texts) + 1, b"exit", b"0") + b"barecpc: exit 0\n"


def pack(lines, each):
    """The frames that `pack` makes of lines, and how many records it says are short."""
    done = subprocess.run([PACK_LINES, str(KEPT), str(each)], input=b"".join(lines), capture_output=True, check=True)
    return done.stdout.splitlines(), int(done.stderr)


class Read:
    """The reader's results for a console's text, in this process."""

    def __init__(self, text):
        self.records, self.text, self.damage = [], [], []
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "r"
            with outputs.Outputs(path) as out:
                out.complete = True
                out._packed._text = self.text.append
                screen = console.Console(out.stream, lambda line: None, self.damage.append)
                screen.feed(text)
                screen.close()
                self.late = out.unpack(screen)
                self.fault = out.fault
            self.records = path.read_bytes().splitlines()
        self.lost, self.exit = screen.fault, screen.exit
        self.full = [line for line in self.records if b'"short":{' not in line]
        self.short = [json.loads(line) for line in self.records if b'"short":{' in line]


def wanted_short(number, line):
    record = json.loads(line)
    series = record["count"]["measured"]
    return {"schema": 1, "payload": record["payload"], "short": {
        "number": number, "label": record["label"], "event": record["event"], "privilege": "user", "net": record["count"]["net"],
        "min": series["min"], "max": series["max"], "runs": 5, "status": "counted"}}


def wrong_cut(read, lines, whole_end):
    """How the records of a cut text differ from what must come, or ""."""
    numbers = {line: number for number, line in enumerate(lines, 1)}
    if len(set(read.full)) != len(read.full) or not set(read.full) <= set(lines):
        return "a record came twice, or another one"
    full, short = {numbers[line] for line in read.full}, {one["short"]["number"] for one in read.short}
    if any(one != wanted_short(one["short"]["number"], lines[one["short"]["number"] - 1]) for one in read.short):
        return "a short record is wrong"
    if not whole_end:
        return "" if read.exit is None or read.lost or read.fault else "the lost end is not named"
    if not read.records:  # no block came: the numbers of frames say what is lost
        return "" if read.lost else "the loss of all is not named"
    gone = set(range(1, len(lines) + 1)) - full - short
    for what, count in (("short", len(short)), ("lost", len(gone))):
        said = re.search(rf"records that are {what}: (\d+) of {len(lines)} ", read.fault)
        if int(said[1] if said else 0) != count:
            return f"{count} records are {what}, and the reader says: {read.fault}"
    return ""


def check_cuts(count, full_at_least, each=0):
    rows = made(count)
    lines = [line for _, line in rows]
    frames, shorts = pack([part for row, line in rows for part in (row, line + b"\n")], each)
    text = console_of(frames)
    whole = Read(text)
    points.check((whole.full, b"".join(whole.text), whole.fault, whole.lost) == (lines, b"".join(row for row, _ in rows), "", None),
                 f"{count} records and their table come home", whole.fault, str(whole.lost), f"{len(whole.full)} records")
    kept = Read(text[-KEPT:])
    points.check(len(kept.full) >= full_at_least and len(kept.full) + len(kept.short) == count,
                 f"the last 64 KB have {count} records: {full_at_least} in full", f"{len(kept.full)} and {len(kept.short)}", kept.fault)
    points.check(count - len(kept.full) <= shorts <= count, f"{count} records: pack says how many are short", str(shorts))
    wrong = []
    for at in range(0, len(text), STEP):
        for name, part, end in (("from", text[at:], True), ("to", text[:at], False)):
            why = wrong_cut(Read(part), lines, end)
            wrong += [f"{name} {at}: {why}"] if why else []
    points.check(not wrong, f"{count} records: cut each 4 KB, all others come, and the loss is named", *wrong)
    if each:
        part = text.split(b"BARECPC-END\n")
        read = Read(b"BARECPC-END\n".join(part[:count // each // 2]))
        sent = len(read.full)  # some frames repeat the dictionary
        points.check(read.full == lines[:sent] and sent >= (count // each // 2 - 5) * each, f"each {each} records are sent at once: a panic loses no others",
                     str(sent))
    return text, lines


def block(lines, dictionary=None):
    squeeze = zlib.compressobj(9, zdict=dictionary) if dictionary else zlib.compressobj(9)
    return json.dumps({"schema": 1, "json-z": base64.b64encode(squeeze.compress(lines) + squeeze.flush()).decode()}).encode()


def check_hostile():
    """Blocks of a hostile guest.  Each has one line, and the good record next to it comes."""
    good = b'1 0\nr{"schema":1,"a":1}\ne1 0\n'
    for name, frame, pattern in (
            ("a bomb", block(b"2 0\nr" + bytes(packed.MAX_BLOCK)), "more than 1024 KiB, or no end"),
            ("no Base64", b'{"json-z":"!"}', "packed block is damaged"), ("no text", b'{"json-z":[1]}', "packed block is damaged"),
            ("no zlib", b'{"json-z":"AAAAAAAAAAAA"}', "packed block is damaged"),
            ("another dictionary", block(b"2 0\nr{}\n", b"another"), "without their dictionary: 1"),
            ("a wrong number", block(b"0 0\nr{}\n"), "record 0"), ("a number that is too large", block(b"9999999 0\nr{}\n"), "record 9999999"),
            ("a long number", block(b"1" * 5000 + b" 0\nr{}\n"), "packed block is damaged"),
            ("no head", block(b""), "packed block is damaged"), ("an unknown line", block(b"1 0\nx\n"), "a line begins with b'x'"),
            ("a series of a million", block(b"2 0\nr\x031*999999\x02\n"), "a series is damaged"),
            ("a record of many series", block(b"2 0\nr" + b"\x031*1000\x02" * 40_000 + b"\n"), "a record has more than 32000 values"),
            ("a quantity of many series", block(b"2 0\nr\x01" + b"1*32000|" * 20 + b"1*1\x02\n"), "a series is damaged"),
            ("a row without a record", block(b"2 0\nvE\nr{}\n"), "packed block is damaged"),
            ("a damaged short record", block(b"0 0\nS1\ns\ta\tb\n"), "a short record is damaged"),
            ("packed in packed", block(b'2 0\nr{"json-z":"AAAA"}\n'), "")):
        read = Read(console_of([block(good), frame]))
        points.check(read.full[0] == b'{"schema":1,"a":1}' and re.search(pattern, read.fault), f"{name}: one line, and nothing else is lost",
                     read.fault, *map(repr, read.full[:3]))
    read = Read(console_of([block(b"%d 0\nr{}\n" % number + b"t" + b"x" * 900_000) for number in range(1, 330)]))
    points.check("all of them have more than 256 MiB" in read.fault, "all blocks are bounded", read.fault)
    lines, damaged = b'1 0\nr{"a":1}\nx\n', b'2 0\nx\n'
    for name, frames in (("before", [lines, damaged, b'3 0\nr{"a":\r3}\n']), ("after", [damaged, b'3 0\nr{"a":\r3}\n', lines])):
        read = Read(console_of([block(one, lines if one != lines else None) for one in frames]))
        points.check(sorted(read.full) == [b'{"a": 3}', b'{"a":1}'] and "a line begins with b'x'" in read.fault,
                     f"a damaged dictionary {name} a damaged block: the other records come, a line each", read.fault, *map(repr, read.full))
    text = console_of([block(b'1 0\nr{"a":1}\n'), block(b'2 0\nr{"a":2}\ne2 0\n')])
    at = text.find(b"json-z") + 20
    read = Read(text[:at] + b"A" + text[at + 1:] if text[at:at + 1] != b"A" else text[:at] + b"B" + text[at + 1:])
    points.check(read.full == [b'{"a":2}'] and "lost frames: 1 of 3 (1)" in str(read.lost) and "lost: 1 of 2 (1)" in read.fault, "a changed byte",
                 read.fault, str(read.lost))


def check_text():
    """A program that prints more than the console keeps, with a record at its end or none."""
    chance = random.Random(1)
    table = [("t" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=60)) + "\n").encode() for _ in range(30_000)]
    for records in ([], [b'{"a":1}']):
        frames, shorts = pack([*table, *(line + b"\n" for line in records)], 0)
        read, cut = Read(console_of(frames)), Read(console_of(frames)[-KEPT:])
        points.check((b"".join(read.text), read.full, read.fault, shorts) == (b"".join(table), records, "", 0),
                     f"1.8 MB of text and {len(records)} records come home", read.fault, str(len(read.text)), str(shorts))
        points.check(cut.full == records and "of the programs' output that are lost: " in cut.fault, "the last 64 KB of them: the loss is named", cut.fault)


def check_death():
    done = subprocess.run([PACK_DIES], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    read = Read(console_of(done.stdout.splitlines()))
    points.check((done.returncode, read.full, read.fault) == (3, [b'{"schema":1,"a":1}'], "") and done.stderr.count(b"a record is cut, and left out\n") == 4,
                 "a program that ends within a record loses no other, and does not wait for what it started", str(done.returncode), read.fault, *done.stderr.decode().splitlines())
    done = subprocess.run([PACK_DIES, "full"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    read = Read(console_of(done.stdout.splitlines()))
    points.check((done.returncode, read.full, read.fault) == (1, [], "") and b": not run: No space left" in done.stderr,
                 "a full /tmp: the end comes", str(done.returncode), read.fault, *done.stderr.decode().splitlines())


def reads(folder, *words, content=None):
    """Status, records and the lines of standard error of `barecpc read`."""
    results = folder / "results"
    results.unlink(missing_ok=True)
    done = subprocess.run([BARECPC, "read", "--results", results, *words], input=content, capture_output=True, timeout=240)
    return done.returncode, results.read_bytes().splitlines() if results.exists() else [], done.stderr.decode().splitlines()


def check_wrapped(folder, text, lines):
    """Logs as the commands of clouds print them."""
    plain = text.decode()
    coded = base64.b64encode(text).decode()
    aws = json.dumps({"InstanceId": "i-1", "Output": plain, "Timestamp": "2026-11-27T15:00:00.000Z"}, indent=4)
    for name, log in (("JSON with text", aws), ("JSON with Base64", json.dumps({"Output": coded})), ("JSON text alone", json.dumps(plain)),
                      ("Base64", coded), ("Base64 in lines", "\n".join(re.findall(".{1,76}", coded))), ("CR LF", plain.replace("\n", "\r\n")),
                      ("JSON with CR LF", json.dumps({"contents": plain.replace("\n", "\r\n"), "start": "0"})),
                      ("the end of JSON", aws[-KEPT:])):
        status, records, err = reads(folder, "-", content=log.encode())
        points.check((status, records) == (0, lines), f"a log as {name}", str(status), f"{len(records)} records", *err[-3:])
    read, write = os.pipe()
    os.write(write, b"{\n" + console_of([block(b'1 0\nr{"a":1}\ne1 0\n')]))
    frames = []
    screen = console.Console(lambda name, data: frames.append(name), lambda text: None)
    line.listen(read, screen, 1, 0)
    points.check((frames, screen.exit) == (["json"], 0), "a pipe that begins as JSON and never ends: its frames come at the timeout", *frames)
    points.check(clouds.Wrapped().take(b"\n" * 100) == b"\n" * 100, "a log that begins with empty lines is live")
    begin = time.monotonic()
    for log in (b"A" * 60 + b" " * 64_000 + b"!", b"BARECPC-BEGIN " * 8_000):
        points.check(clouds.unwrap(log) == log and time.monotonic() - begin < 5, "a log that is almost wrapped takes no time", str(time.monotonic() - begin))
    lost = plain.split("BARECPC-END\n")
    status, records, err = reads(folder, "-", content="BARECPC-END\n".join(lost[:3] + lost[4:]).encode())
    points.check(status == 125 and 0 < len(records) < len(lines) and set(records) <= set(lines) and "records that are lost:" in " ".join(err),
                 "a log without the lines of a frame", str(status), *err[-3:])


def check_follow(folder, text, lines):
    log = folder / "growing"
    log.write_bytes(text[:1000])

    def grow():
        for at in range(1000, len(text), len(text) // 3):
            time.sleep(1)
            with open(log, "ab") as file:
                file.write(text[at:at + len(text) // 3])
    writer = threading.Thread(target=grow)
    writer.start()
    status, records, err = reads(folder, "--follow", "--timeout", "60", log)
    writer.join()
    points.check((status, records) == (0, lines), "--follow: a file that grows", str(status), *err[-3:])
    # The command shows 16 KB more at each call, and only the last 24 KB of them.  Its second call fails.
    (folder / "shown").write_text("0")
    command = (f'cd {folder}; n=$(($(cat shown) + 16384)); [ $n = 16384 ] || [ -e failed ] || {{ touch failed; exit 1; }}; echo $n >shown; head -c $n growing | tail -c 24576')
    status, records, err = reads(folder, "--follow", "--timeout", "60", command)
    points.check((status, records) == (0, lines), "--follow: a command that keeps the log's end, and fails once", str(status), *err[-3:])
    for name, words, line in (("a command that fails", ["false"], "host: false: status 1: "),
                              ("a command that another one kills", ["kill -9 $$"], "host: kill -9 $$: status -9: "),
                              ("a device", ["--timeout", "1", "/dev/null"], "/dev/null: not a file that grows: leave out --follow"),
                              ("a command without end", ["head -c 100M /dev/zero; sleep 100"], "printed more than 64 MiB"),
                              ("nothing comes", ["--timeout", "1", "echo"], "timed out after 1 s")):
        status, _, err = reads(folder, "--follow", *words)
        points.check(status in (124, 125) and line in err[-1], f"--follow: {name}", str(status), *err)
    gone = folder / "gone"
    gone.write_bytes(text[:1000])
    threading.Timer(1, gone.unlink).start()
    status, _, err = reads(folder, "--follow", "--timeout", "60", gone)
    points.check(status == 125 and err[-1] == f"host: {gone}: No such file or directory", "--follow: a file that vanishes", str(status), *err)
    begun = folder / "begun"
    reader = subprocess.Popen([BARECPC, "read", "--follow", f"touch {begun}; exec sleep 100"], stderr=subprocess.PIPE)
    while not begun.exists() and reader.poll() is None:
        time.sleep(0.1)
    reader.send_signal(signal.SIGINT)
    err = reader.communicate(timeout=60)[1].decode().splitlines()
    points.check((reader.returncode, err[-1]) == (-signal.SIGINT, "host: interrupted: its output is not complete"), "--follow: Ctrl-C", *err)
    points.check(clouds.news(b"\n", b"log\n") == b"\nlog\n", "--follow: a log that was an empty line")
    points.check(clouds.news(b"a" * 9000 + b"b" * 5000, b"a" * 10 + b"b" * 5000 + b"c") == b"c", "--follow: what is new of a log that moved")


def run(folder, arch, *words):
    results = folder / "run"
    results.unlink(missing_ok=True)
    done = subprocess.run([BARECPC, "run", "--arch", arch, "--accel", "tcg", "--results", results, *words], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=240)
    return done.returncode, done.stdout, results.read_bytes() if results.exists() else b"", done.stderr.decode(errors="replace")


def same(done, arch):
    """Status, table and records of a run.  On x86 the boot measures the TSC's rate, which gives hrtime: another command line, another rate."""
    if arch == "arm64":
        return done[:3]
    records = [{name: value for name, value in json.loads(line).items() if name not in ("machine", "hrtime_ns")} for line in done[2].splitlines()]
    return done[0], len(done[1].splitlines()), records


def check_image(folder, arch):
    """The suite's output and records are the same, and so is a program's status."""
    plain, through = run(folder, arch), run(folder, arch, "--append", "output=text", "--", "pack", "-s", "0")
    points.check(same(through, arch) == same(plain, arch) and plain[2].count(b"\n") > 20, f"{arch}: pack changes no record and no table",
                 f"status {through[0]}, not {plain[0]}", *through[3].splitlines()[-3:])
    words = ["triad", "-n", "-r", "2", "-w", "0", "-e", "PAPI_tot_ins", *map(str, range(1000, 1150))]
    status, _, records, err = run(folder, arch, "--", "pack", "-k", "16k", *words)
    lines = records.splitlines()
    points.check((status, len(lines)) == (0, 150) and re.search(r"^pack: triad: 150 records with those before: .* 70 in full, .* over 3 jobs$", err, re.M),
                 f"{arch}: pack says before it starts what will not fit", str(status), f"{len(lines)} records", err[-600:])
    (folder / "suite").write_text("# two\nspin & triad\n\nspin  \"-n\" \n")
    status, _, records, err = run(folder, arch, "--payload", folder / "suite", "--", "pack")
    points.check(status == 2 and b'"arguments":["-n"]' in records and b"triad" not in records and "pack: suite: `&': left out" in err,
                 f"{arch}: pack runs a suite, one program after the other", str(status), err[-300:])
    line = ["triad", "-n", "-r", "1", "-w", "0", "-e", "PAPI_tot_ins", *map(str, range(1000, 1300))]
    (folder / "suite").write_text(f"# three\ntriad -n -r 1 -w 0\nlist PAPI_tot\n{' '.join(line)}\n")
    status, _, records, err = run(folder, arch, "--payload", folder / "suite", "--", "pack", "-k", "16k")
    points.check((status, records.count(b'"triad/1299"')) == (0, 1) and f"pack: suite: 304 records with those before: " in err and
                 "divide the suite after line 3\n" in err and err.count("pack: triad") == 0,
                 f"{arch}: pack says before a suite where to divide it; a line of 308 words", str(status), err[-600:])
    points.check(run(folder, arch, "--", "pack", "triad", "x")[0] == 2 and run(folder, arch, "--", "pack", "none")[0] == 127,
                 f"{arch}: a program's status is that of pack")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text, lines = check_cuts(300, 300)
        check_cuts(2000, 20)
        check_cuts(600, 100, 3)
        wrong = faults([wanted_short(1, lines[0])])
        points.check(not wrong, "a short record agrees with the schema", *wrong)
        check_hostile()
        check_text()
        check_death()
        check_wrapped(folder, text, lines)
        check_follow(folder, text, lines)
        for arch in ("arm64", "x86_64"):
            check_image(folder, arch)
    return points.end()


sys.exit(main())
