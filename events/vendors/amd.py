#!/usr/bin/env python3
"""Take the facts about AMD's core events from perf's JSON: amd.py FOLDER VERSION writes amd.facts.

FOLDER is tools/perf/pmu-events/arch/x86 of Linux's source, VERSION Linux's, as 7.3.4.  AMD wrote these files.
"""

import csv
import json
import pathlib
import sys

import facts

# The PMU's name, its folder, and its description.
CPUS = """
amd64_fam17h_zen1  amdzen1  AMD64 Fam17h Zen1
amd64_fam17h_zen2  amdzen2  AMD64 Fam17h Zen2
amd64_fam19h_zen3  amdzen3  AMD64 Fam19h Zen3
amd64_fam19h_zen4  amdzen4  AMD64 Fam19h Zen4
amd64_fam1ah_zen5  amdzen5  AMD64 Fam1Ah Zen5
amd64_fam1ah_zen6  amdzen6  AMD64 Fam1Ah Zen6
"""
PICS = 6


def number(event, key):
    """A field's number."""
    return int(event.get(key, "0"), 0)


def events(folder):
    """The facts of the events that a core counts."""
    for path in sorted(folder.glob("*.json")):
        for event in json.loads(path.read_text()):
            # The others are metrics, or events of the northbridge and the third cache.
            if "EventName" not in event or "Unit" in event:
                continue
            code = number(event, "EventCode")
            select = (
                code & 0xFF | code >> 8 << 32 | number(event, "UMask") << 8 | number(event, "EdgeDetect") << 18
                | number(event, "Invert") << 23 | number(event, "CounterMask") << 24
            )
            deprecated = "d" if event.get("Deprecated") == "1" else ""
            yield facts.Fact(event["EventName"].upper(), (select,), None, (), 0, deprecated)


def main(folder, version):
    """Write amd.facts."""
    folder = pathlib.Path(folder)
    rows = {row[2]: row for row in csv.reader((folder / "mapfile.csv").open()) if len(row) == 4}
    cpus, found = [], {}
    for line in CPUS.split("\n")[1:-1]:
        name, cpu, description = line.split(None, 2)
        found[name] = list(events(folder / cpu))
        cpus.append(facts.Cpu(name, cpu, rows[cpu][1], PICS, 0, rows[cpu][0], description))
    source = facts.Source("perf", version, "-", "GPL-2.0", "https://kernel.org")
    facts.write("amd", [source], cpus, found)


if __name__ == "__main__":
    main(*sys.argv[1:])
