#!/usr/bin/env python3
"""Write a vendor's table of event names as C, for scripts/mkevents: mktables.py VENDOR LIBRARY FIRST-LINE FOLDER PAPI CODES...

VENDOR is intel, amd or arm.  LIBRARY is what libpfm4 is called, and FIRST-LINE begins the table, FOLDER/VENDOR.c.  FOLDER has
the program VENDOR-libpfm4, made of libpfm4.c.  PAPI is PAPI's papi_events.csv.  CODES have the output of `file/names codes`.
"""

import json
import subprocess
import sys

import presets
import tables
import vendor_facts

KINDS = {"intel": 0, "amd": 1, "arm": 2}
# CPUs of Arm's share a table: most of their events are the same, and have no unit masks.
SHARED = {"intel": 1, "amd": 1, "arm": 8}


def joined(cpus):
    """The drafts of CPUs that share a table: equal events without unit masks are one."""
    every, known = [], {}
    for number, drafts in enumerate(cpus):
        for draft in drafts:
            same = None if draft["umasks"] else repr(draft)
            if same in known:
                known[same]["models"] |= 1 << number
                continue
            new = draft | {"models": 1 << number, "umasks": [umask | {"models": 1 << number} for umask in draft["umasks"]]}
            every.append(new)
            if same:
                known[same] = new
    return every


def add_facts(table, vendor, cpus):
    """Add the CPUs that have a vendor's file."""
    first = {}  # the fields about rows, by the events
    for at in range(0, len(cpus), SHARED[vendor]):
        group = cpus[at:at + SHARED[vendor]]
        events = repr([drafts for _, _, drafts in group])
        if events not in first:
            first[events] = table.add_drafts(KINDS[vendor], joined(drafts for _, _, drafts in group))
        for number, (pmu, source, _) in enumerate(group):
            table.add_pmu(pmu, source, KINDS[vendor], 1 << number, first[events])


def main(vendor, library, first_line, folder, papi, *paths):
    """Write the table."""
    cpus = list(vendor_facts.read(vendor, paths))
    lines = presets.read(papi)
    names = {f"{pmu}::{event}" for line in lines for event in line.events for pmu in (line.pmu, "ix86arch")}
    said = subprocess.run([f"{folder}/{vendor}-libpfm4", vendor, *(pmu["name"] for pmu, _, _ in cpus)], input="\n".join(sorted(names)),
                          capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr)
    table = tables.Tables()
    add_facts(table, vendor, cpus)
    codes = {}
    for line in said.stdout.splitlines():
        if not line.startswith("{"):
            name, code = line.split()
            codes[name] = int(code, 0)
            continue
        theirs = json.loads(line)
        rows = table.add_drafts(theirs["kind"], theirs["rows"])
        for number, pmu in enumerate(theirs["pmus"]):
            table.add_pmu(pmu, library, theirs["kind"], 1 << number, rows)
    table.add_tags()
    path = f"{folder}/{vendor}.c"
    table.write(path, vendor, first_line)
    presets.add(table, vendor, path, lines, codes)
    table.write(path, vendor, first_line)


if __name__ == "__main__":
    main(*sys.argv[1:])
