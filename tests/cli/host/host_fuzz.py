#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""No command of the host ends in a traceback, whatever bytes a guest or another person hands it.

Each case changes parts of a valid input, and gives it to the code that reads such input.  The inputs are the frames and
records of a console, files of records, profiles, sweeps, archives, ELF files, QR codes, and code for nb.  The code may raise
only errors that the commands turn into one line.  Seeds are fixed, and the CPU time is bounded."""

import base64
import contextlib
import copy
import io
import json
import os
import pathlib
import random
import resource
import struct
import sys
import tempfile
import time
import traceback
import types
import zlib

import made_records
import tap
from host import cpio
from host.console import clouds, console, outputs, progress, qr
from host.emulator import qemu
from host.programs import exegesis, nb, objfile, symbols
from host.results import compare, export, profile_export, profiles, report, sweep

ROOT = pathlib.Path(__file__).resolve().parents[3]

SECONDS = 600 if os.environ.get("BARECPC_CAMPAIGN") == "yes" else 15  # of CPU, of all targets
SLOW = 10  # seconds of CPU that no small input may take
LEAST = 10  # cases of each target
MAX_BYTES = 2 << 30  # of memory
EXPECTED = (qemu.HostError, cpio.ArchiveError, objfile.BadObject)
STRANGE = [None, True, 0, 1, -1, 1 << 63, -(1 << 70), 1e308, float("nan"), "", "x", "\ud800", "\x1b[31m", "=1+1", "a;b\nc", "a" * 5000, "../../../etc/hostname",
           "/dev/zero", [], {}, [[]], [1, "2"], {"a": None}, "PAPI_tot_ins", "counted", "barecpc", "record"]
PROFILE = [{"schema": 1, "payload": "record", "arguments": [], "event": "PAPI_tot_ins", "privilege": "both", "machine": {}, "program": "p",
            "period": 1000, "samples": 3, "lost": 0, "events": 3100, "lwps": 1, "revoked": 0, "status": 0, "part": 1,
            "folded": [["p;main;f", 2], ["p;main;[kernel]_[k]", 1]]},
           {"schema": 1, "payload": "record", "arguments": [], "event": "PAPI_tot_ins", "privilege": "both", "machine": {},
            "programs": [{"image": 1, "path": "p", "bias": "0"}, {"image": 2, "path": "l", "bias": "0", "of": 1, "start": "400800", "end": "401000"}]},
           {"schema": 1, "payload": "record", "arguments": [], "event": "PAPI_tot_ins", "privilege": "both", "machine": {},
            "addresses": [[1, "1 - 401000 400800"], [2, "1 sys_call ffffffff80001000 400800"]]},
           {"schema": 1, "payload": "record", "arguments": [], "event": "PAPI_tot_ins", "privilege": "both", "machine": {},
            "trace": [[10, 1, 1, 1], [20, 1, 2, 2], [30, 1, 1, 1]]},
           {"schema": 1, "payload": "barecpc", "arch": "x86_64", "files": []}]
PACKED = (b'1 0\nua\nvE:u\nr{"label":"a/8","per_iteration":1.000,"count":\x0110;,1,2|1*3\x02,"tick":\x014*3\x02,"hrtime_ns":null,"machine":{"a":1}}\n'
          b'tx\nr{"b":\x033;1,,9\x02,\x04\n')
RECORDS = [made_records.record("a/8", [10, 11, 12], overhead=[1, 1, 2]), made_records.record("a/16", [20, 21, 22]),
           made_records.record("b", None), {"schema": 1, "payload": "cputrack", "arguments": [], "machine": {}, "file": "o", "text": "t"}]


def places(value, path=()):
    """The paths of all parts of a value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, element in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(element, (*path, key))


def changed(dice, value):
    """A copy of a JSON value with some parts replaced, removed, doubled or nested."""
    value = json.loads(json.dumps(value))
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        path = dice.choice(list(places(value)))
        if not path:
            if dice.random() < .05:
                return dice.choice(STRANGE)
            continue
        parent = value
        for key in path[:-1]:
            parent = parent[key]
        how, old = dice.randrange(6), parent[path[-1]]
        if how == 0:
            del parent[path[-1]]
        elif how == 1 and isinstance(parent, list):
            parent.insert(path[-1], old)
        elif how == 2:
            for _ in range(dice.choice([2, 100, 200])):
                old = [old]
            parent[path[-1]] = old
        elif how == 3 and isinstance(old, int) and not isinstance(old, bool):
            parent[path[-1]] = old + dice.choice([-1, 1, 1 << 31, 10 ** 17, -(1 << 62)])
        elif how == 4 and isinstance(old, str):
            parent[path[-1]] = dice.choice([";".join([old] * dice.choice([2, 490, 499])), old + dice.choice("\n\x07,;=/|`<#"), old[:-1]])
        else:
            parent[path[-1]] = copy.deepcopy(dice.choice(STRANGE))
    return value


def flipped(dice, data):
    """Bytes with some of them changed, cut off or repeated."""
    data = bytearray(data)
    for _ in range(dice.choice([1, 2, 8])):
        at = dice.randrange(len(data) + 1)
        how = dice.randrange(5)
        if how == 0:
            del data[at:]
        elif how == 1:
            data[at:at] = data[at:at + dice.randrange(200)]
        elif how == 2:
            data[at:at + 8] = struct.pack("<Q", dice.choice([0, 1, 1 << 63, (1 << 64) - 1, 1 << 31, dice.randrange(1 << 20)]))
        elif how == 3:
            data[at:at + 1] = dice.choice([b"-", b"+", b"_", b" ", b"\0", b"\n", b"\xff", b"BARECPC-"])
        elif data:
            data[at % len(data)] ^= 1 << dice.randrange(8)
    return bytes(data)


def lines_of(dice, records):
    """A file of records: some are changed, some lines are no records."""
    text = [json.dumps(changed(dice, r) if dice.random() < .7 else r) for r in records]
    if dice.random() < .1:
        text.insert(dice.randrange(len(text) + 1), dice.choice(["[]", "1", "null", "{", '"\\ud800"', "[" * 100000, "\ufeff{}", "{}"]))
    return ("\n".join(text) + "\n").encode(errors="surrogatepass")


class Folder:
    """Files for the cases."""

    def __init__(self, name):
        self.path = pathlib.Path(name)
        program = self.path / "p"
        program.write_bytes((ROOT / "build" / "x86_64" / "bin" / "spin").read_bytes())
        self.elf = program.read_bytes()
        self.profile = [*PROFILE[:-1], {**PROFILE[-1], "files": [profiles.describe("p", program)]}]

    def file(self, data, name="in"):
        path = self.path / name
        path.write_bytes(data)
        return path


def a_console(dice, folder):
    """The frames of a run, some changed, as `run` and `read` receive them."""
    frames = bytearray(b"mem: 1 MiB\n")
    bodies = [json.dumps(changed(dice, r) if dice.random() < .7 else r).encode(errors="surrogatepass") for r in [*RECORDS, *PROFILE]]
    bodies += [b"[]", b"1", b"null", b'"\\ud800"', b"[" * 60000][:dice.randrange(6)]
    for number, body in enumerate([*bodies, b"0"], 1):
        stream = "exit" if number > len(bodies) else dice.choice(["json"] * 8 + ["stdout"])
        head = f"{stream} {number} {len(body)}".encode()
        frames += b"BARECPC-BEGIN %s %08x\n%s\nBARECPC-END" % (head, zlib.crc32(body, zlib.crc32(head)), body.replace(b"BARECPC-", b"BARECPC>-"))
    frames += b"barecpc: exit 0\n"
    data = flipped(dice, frames) if dice.random() < .5 else bytes(frames)
    with outputs.Outputs(folder.path / "results") as out:
        screen = console.Console(out.stream, lambda line: None)
        while data:
            length = dice.choice([1, 100, 100000])
            screen.feed(data[:length])
            data = data[length:]
        screen.close()
    out.write([("o", folder.path / "o")], folder.path / "folded", folder.path / "svg", lambda line: None)


def some_records(dice, folder):
    """Files of records, as compare and export read them."""
    a = folder.file(lines_of(dice, RECORDS), "a")
    b = folder.file(lines_of(dice, RECORDS), "b")
    if dice.random() < .5:
        compare.main(types.SimpleNamespace(before=a, after=b, markdown=dice.random() < .5, all=True, fail_above=[], time=dice.random() < .5, pair=[],
                                           by=dice.choice([None, "exact", "interval"]), confidence=.95))
    else:
        export.main(types.SimpleNamespace(to=dice.choice(list(export.FORMATS)), output=None, records=a))


def a_profile(dice, folder):
    """A profile, as report, annotate and export read it."""
    path = folder.file(lines_of(dice, folder.profile))
    which = dice.randrange(3)
    if which == 0:
        report.main(types.SimpleNamespace(input=path, sort=dice.choice(list(report.KEYS)), children=False))
    elif which == 1:
        report.annotate(types.SimpleNamespace(input=path, symbol=None))
    else:
        export.main(types.SimpleNamespace(to=dice.choice(list(profile_export.FORMATS)), output=None, records=path))


def a_sweep(dice, folder):
    """A folder of a sweep, as collect reads it."""
    points = [{"program": "spin", "smp": "1"}, {"program": "spin", "smp": "2"}]
    folder.file(json.dumps(changed(dice, points)).encode(errors="surrogatepass"), "sweep.json")
    for number in (1, 2):
        folder.file(dice.choice([b"0\n", b"1\n", b"x", b"", b"\xff"]), f"{number}.status")
        folder.file(lines_of(dice, RECORDS), f"{number}.jsonl")
        folder.file(b"\xff\x1b[31m", f"{number}.err")
        folder.file(b"here\xff", f"{number}.place")
    sweep.collect(types.SimpleNamespace(folders=[folder.path], output=None))


def an_archive(dice, folder):
    """An archive, as --payload reads it."""
    archive = cpio.pack({"a": b"12", "b/c": b"x" * 5000, "d": b"x" * 5000, "suite": b"a\n"})
    qemu.gather([folder.file(flipped(dice, archive), "x.cpio")] * dice.choice([1, 1, 2]), folder.path)


def an_elf(dice, folder):
    """A program, whose symbols name the function of a run that timed out."""
    data = bytearray(folder.elf)
    table, = struct.unpack_from("<Q", data, 40)
    for _ in range(dice.choice([1, 2, 5])):
        at = dice.choice([32, 40, 54, 56, 58, 60, 62, table + dice.randrange(64 * 12) // 8 * 8])
        data[at:at + 8] = struct.pack("<Q", dice.choice([0, 1, 1 << 63, (1 << 64) - 1, len(data) - 1, dice.randrange(len(data))]))
    file = symbols.parse(bytes(data))
    symbols.place(dice.choice([0x401000, 0x400000, 1 << 63]), None, file)
    if file:
        file.physical(0x401000)
        file.relocated(".text")
        file.has_data(".text")
        file.contents(".text")
        file.global_symbol("main")


def qr_codes(dice, folder):
    """The parts of records on pictures."""
    packed = zlib.compress(lines_of(dice, RECORDS))
    parts = qr.Parts()
    for number in range(2):
        head = qr.HEAD.pack(qr.MAGIC, number, 2, len(packed), zlib.crc32(packed))
        part = head + packed[number * len(packed) // 2:(number + 1) * len(packed) // 2]
        parts.add(flipped(dice, part) if dice.random() < .5 else part, "picture")
    if parts.missing == []:
        parts.records()


def packed_blocks(dice, folder):
    """Blocks of the program pack, in a log that a cloud's command printed."""
    blocks = [PACKED, PACKED.replace(b"1 0", b"3 40"), b"0 0\nS1\ns\ta\ta/8\te\tuser\t9\t1\t0\t3\tcounted\ns\ne4 80\n"]
    log = bytearray()
    for number, lines in enumerate(blocks, 1):
        made = zlib.compressobj(zdict=PACKED) if number == 2 else zlib.compressobj()
        data = made.compress(flipped(dice, lines) if dice.random() < .6 else lines) + made.flush()
        body = json.dumps({"schema": 1, "json-z": base64.b64encode(flipped(dice, data) if dice.random() < .2 else data).decode()}).encode()
        head = f"json {number} {len(body)}".encode()
        log += b"BARECPC-BEGIN %s %08x\n%s\nBARECPC-END\n" % (head, zlib.crc32(body, zlib.crc32(head)), body)
    text = json.dumps({"Output": log.decode()}).encode() if dice.random() < .5 else bytes(log)
    with outputs.Outputs(folder.path / "results") as out:
        screen = console.Console(out.stream, lambda line: None)
        screen.feed(clouds.unwrap(flipped(dice, text) if dice.random() < .3 else text))
        screen.close()
        out.unpack(screen)


def some_code(dice, folder):
    """Code for nb, and a snippet of llvm-exegesis."""
    text = dice.choice(["add x0, x0, x1; |4; 3*|nop; |", "mov rax, rbx; 2*|inc rax|", "10^12*|nop|", "99999999999*|nop|", ".byte 1; .incbin \"f\"", "|0", "|-1",
                        "a" * 1000])
    text = flipped(dice, text.encode()).decode(errors="replace")
    with contextlib.suppress(qemu.HostError):
        nb.refuse_directives(text, "-asm")
    with contextlib.suppress(qemu.HostError):
        nb.statements(text, dice.choice(["arm64", "x86_64"]), "-asm")
    snippet = b"# LLVM-EXEGESIS-DEFREG RAX 12\n# LLVM-EXEGESIS-LIVEIN RDI\naddq $1, %rax\n"
    exegesis.read_snippet(folder.file(flipped(dice, snippet)), "x86_64")


def a_monitor(dice, folder):
    """The guest's memory, as QEMU's monitor shows it."""
    words = [progress.MAGIC, *(dice.randrange(1 << 64) for _ in range(progress.WORDS - 1))]
    state = progress.parse(" ".join(f"0x{word:016x}" for word in words[:dice.choice([3, len(words)])]))
    if state and not state.name.isprintable():
        raise AssertionError("a program's name that is not printable")


TARGETS = {"console": a_console, "records": some_records, "profile": a_profile, "sweep": a_sweep, "archive": an_archive, "elf": an_elf,
           "qr": qr_codes, "packed": packed_blocks, "code": some_code, "monitor": a_monitor}


def run(name, seed, folder):
    """One case.  Returns what is wrong, or ""."""
    begin = time.process_time()
    quiet = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            TARGETS[name](random.Random(f"{name} {seed}"), folder)
            quiet.flush()
    except EXPECTED:
        pass
    except Exception:
        return traceback.format_exc()
    taken = time.process_time() - begin
    return f"took {taken:.1f} s" if taken > SLOW else ""


def main():
    if len(sys.argv) == 3:  # a case by hand: NAME SEED
        with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
            sys.exit(run(sys.argv[1], sys.argv[2], Folder(name)) or None)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    with tempfile.TemporaryDirectory(prefix="barecpc.") as place:
        folder = Folder(place)
        for name in TARGETS:
            end, seed, faults = time.process_time() + SECONDS / len(TARGETS), 0, []
            while time.process_time() < end and len(faults) < 3:
                wrong = run(name, seed, folder)
                if wrong:
                    faults.append(f"tests/cli/host/host_fuzz.py {name} {seed}\n{wrong}")
                seed += 1
            if seed < LEAST:
                faults.append(f"only {seed} cases")
            tap.check(f"{name}: no traceback in {SECONDS / len(TARGETS):.0f} s of CPU", "\n".join(faults).splitlines()[-30:])
    tap.end()


if __name__ == "__main__":
    main()
