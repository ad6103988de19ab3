#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The kernel finds as much in the device trees of real boards as tests/cli/boot/boards.md says, or more.

    tests/cli/boot/boards.py            compare
    tests/cli/boot/boards.py --update   write the tables of tests/cli/boot/boards.md

The trees are those of Debian's Linux.  The host build of the kernel's parser reads them.  A newer Linux has more boards."""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

from qmp_guest import ROOT, Points

PARSER = ROOT / "build/host/tests/arch/arm64/boards"
PAGE = ROOT / "tests/cli/boot/boards.md"
COLUMNS = ("trees", "GIC", "console", "PSCI", "spin table", "PMU by PPI", "PMU by SPI")


def trees():
    done = subprocess.run([ROOT / "scripts/setup", "--dtb"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    return done.returncode, sorted(pathlib.Path(done.stdout.strip()).rglob("*.dtb")) if done.returncode == 0 else []


def count(files):
    """The counts of each family and of each driver, by the parser."""
    families, drivers = collections.defaultdict(collections.Counter), collections.Counter()
    lines = subprocess.run([PARSER, *files], capture_output=True, text=True, check=True).stdout.splitlines()
    for line in lines:
        path, *facts = line.split()
        fact = dict(word.split("=") for word in facts)
        found = ["trees"] + [name for name, yes in (
            ("GIC", fact["gic"] != "0"), ("console", fact["uart"] != "-"), ("PSCI", fact["start"] == "psci"),
            ("spin table", fact["start"] == "spin-table"), ("PMU by PPI", fact["pmu"] == "ppi"),
            ("PMU by SPI", fact["pmu"] == "spi")) if yes]
        for name in found:
            families[pathlib.Path(path).parent.name][name] += 1
            families["all"][name] += 1
        if fact["uart"] != "-":
            drivers[fact["uart"]] += 1
    return families, drivers


def tables(families, drivers):
    rows = [f"| family | {' | '.join(COLUMNS)} |", "| --- |" + " --- |" * len(COLUMNS)]
    rows += [f"| {family} | {' | '.join(str(families[family][c]) for c in COLUMNS)} |" for family in sorted(families, key=lambda f: (f == "all", f))]
    rows += ["", "| driver | consoles |", "| --- | --- |"]
    return "\n".join(rows + [f"| `{name}` | {n} |" for name, n in sorted(drivers.items())]) + "\n"


def recorded(text):
    """The rows of the page's tables: name and counts."""
    return [(m[1], [int(n) for n in m[2].split(" | ")]) for m in re.finditer(r"^\| `?([\w-]+)`? \| ((?:\d+ \| )*\d+) \|$", text, re.M)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the tables of tests/cli/boot/boards.md")
    update = parser.parse_args().update
    points = Points()
    status, files = trees()
    if status == 77:
        points.skip("the boards' trees", "they cannot be fetched")
        return points.end()
    points.check(files, "the boards' trees", f"scripts/setup --dtb: status {status}, {len(files)} trees")
    if not files:
        return points.end()
    families, drivers = count(files)
    if update:
        page = PAGE.read_text()
        start, end = page.index("| family |"), page.index("\n## What")
        PAGE.write_text(page[:start] + tables(families, drivers) + page[end:])
    rows = recorded(PAGE.read_text())
    points.check(len(rows) >= 26 and dict(rows)["all"][0] >= 1023, "the page has the families, the drivers and their sums", str(rows))
    for name, was in rows:
        now = [families[name][c] for c in COLUMNS] if name in families else [drivers[name]]
        points.check(all(a >= b for a, b in zip(now, was)) and len(now) == len(was), f"{name}: as many as before", f"{was}, now {now}")
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
