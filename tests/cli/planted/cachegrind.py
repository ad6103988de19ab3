#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""cachegrind and a planted L1D of 32 KiB, 8 ways and LRU see the same misses added when a program's work doubles.

cachegrind maps by virtual address.  A way has 4 KiB, so the set of a physical address is the same."""

import pathlib
import re
import subprocess
import sys
import tempfile

from qmp_guest import Points

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODES = ("in order", "each ninth line", "at random", "stores at random", "a set and others")
TIMES = 20000

points = Points()


def output(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def number(pattern, text):
    """The number that a tool printed; or none, and its output."""
    found = re.search(pattern, text, re.M)
    if not found:
        print("# " + text.replace("\n", "\n# "))
    return int(found[1].replace(",", "")) if found else None


def count(folder, mode, times):
    """The L1D's misses of a run by cachegrind and by the planted machine."""
    program = folder / "walk"
    subprocess.run(["x86_64-linux-gnu-gcc", "-nostdlib", "-static", f"-DMODE={mode}", f"-DTIMES={times}",
                    ROOT / "tests/cli/programs/walks.S", "-o", program], check=True)
    theirs = output("valgrind", "--tool=cachegrind", "--cache-sim=yes", "--D1=32768,8,64", "--cachegrind-out-file=/dev/null", program)
    ours = output(ROOT / "scripts/barecpc", "run", "--arch", "x86_64", "--planted", ROOT / "qemu/planted/machines/plain.json",
                  "--payload", program, "--", "stat", "-e", "r0151:u", "walk")
    return number(r"D1  misses: +([0-9,]+)", theirs), number(r"^ +([0-9,]+) +r0151:u", ours)


def main():
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        for mode, what in enumerate(MODES):
            few, many = (count(pathlib.Path(name), mode, times) for times in (TIMES, 2 * TIMES))
            points.check(None not in few + many, f"{what}: both count")
            if None in few + many:
                continue
            theirs, ours = many[0] - few[0], many[1] - few[1]
            print(f"# {what}: cachegrind {few[0]} and {many[0]}, the planted machine {few[1]} and {many[1]}")
            points.check(ours == theirs and theirs > 0, f"{what}: {theirs} misses more by cachegrind, {ours} by the planted machine")
    return points.end()


sys.exit(main())
