#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""`barecpc stat` and `valgrind --tool=callgrind` count the same instructions of ten programs, but for known differences.

Each program is a static x86-64 binary of musl, run by both.  The option --table prints a table of both counts.

Callgrind counts each repetition of a string instruction (REP MOVS, REP STOS), and a CPU counts one instruction.  How many
these are is in callgrind's own output: the count of the instruction, less that of the next one.  The rest of the
difference is the C library's start.  It is the same for every program that executes the same instructions.
"""
import collections
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tap import check, end

ROOT = pathlib.Path(__file__).resolve().parents[3]
START = 200  # instructions of the C library's start, at most, by which the two differ
# Programs that do not execute the same instructions, and the part of them that may differ.  One prints by %f: musl
# computes in 80 bits, valgrind in 64 (its manual, "Limitations").  The other calls malloc, which depends on addresses.
OTHERS = {"words": 0.01, "heap": 0.001}


def timed(words, **more):
    begin = time.monotonic()
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, **more)
    return done, time.monotonic() - begin


def string_instructions():
    """Address and length of each instruction that repeats."""
    text = subprocess.run(["x86_64-linux-gnu-objdump", "-d", folder / "ten"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\trep ", text, re.M)
    return {int(address, 16): len(code.split()) for address, code in found}


def repetitions(lines):
    """How many instructions of callgrind's output are repetitions of one."""
    counts, skip = collections.Counter(), False
    for line in lines:
        match = re.match(r"(0x[0-9a-f]+) \d+ (\d+)$", line)
        if match and not skip:
            counts[int(match[1], 16)] += int(match[2])
        skip = line.startswith("calls=")
    return sum(counts[address] - counts[address + length] for address, length in string_instructions().items())


def callgrind(name):
    """Instructions, repetitions among them, output and seconds.  The environment is empty, as barecpc's is."""
    done, seconds = timed(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--callgrind-out-file=out", "./ten", name],
                          env={})
    lines = (folder / "out").read_text().splitlines()
    return int(re.search(r"Collected : (\d+)", done.stderr)[1]), repetitions(lines), done.stdout, seconds


def stat(name):
    done, seconds = timed([ROOT / "scripts" / "barecpc", "stat", "--accel", "tcg", "-e", "instructions:u", "--results", "records", "./ten", name])
    return json.loads((folder / "records").read_text().splitlines()[0])["count"]["net"], done.stdout, seconds


def main():
    names = re.findall(r'\{ "(\w+)", \w+ \},', (ROOT / "tests/cli/programs/ten.c").read_text())
    subprocess.run([ROOT / "scripts/barecpc-cc", "--arch", "x86_64", "-O2", "-o", folder / "ten", ROOT / "tests/cli/programs/ten.c", "-lm"], check=True)
    rows, rests = [], []
    for name in names:
        (theirs, repeated, printed, slow), (ours, also, fast) = callgrind(name), stat(name)
        rest = theirs - ours - repeated
        rows.append(f"| `{name}` | {ours:,} | {theirs:,} | {repeated:,} | {rest:+,} | {fast:.1f} s | {slow:.1f} s |")
        check(f"{name}: the output", [] if printed == also else [printed, also])
        check(f"{name}: instructions", [] if abs(rest) <= max(START, ours * OTHERS.get(name, 0)) else [f"{ours}; callgrind {theirs}, {repeated} of them repetitions"])
        rests += [rest] if name not in OTHERS else []
    check("the rest is the C library's start", [] if max(rests) - min(rests) <= 8 else [str(rests)])
    if "--table" in sys.argv:
        print("\n".join(rows), file=sys.stderr)


if platform.machine() != "x86_64" or not shutil.which("valgrind"):
    print("1..0 # SKIP valgrind is not installed: scripts/setup --campaign")
    sys.exit(0)
with tempfile.TemporaryDirectory() as at:
    folder = pathlib.Path(at)
    main()
end()
