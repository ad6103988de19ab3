#!/usr/bin/env python3
"""Write PAPI's presets as C, for scripts/mkevents: papi.py PAPI_EVENTS.CSV.  The output has papi_lines[] of tables.h.

    CPU,PMU
    PRESET,NAME,NOT_DERIVED,EVENT
    PRESET,NAME,DERIVED_ADD,EVENT,EVENT...
    PRESET,NAME,DERIVED_POSTFIX,FORMULA,EVENT,EVENT...,NOTE,"text"

A PMU has the presets after its name, up to the next group of CPU lines.
"""

import itertools
import pathlib
import sys

FORMULAS = ("DERIVED_POSTFIX", "DERIVED_INFIX")
NOTES = ("note", "ldesc", "sdesc")
# Filters of perf for virtual machines.  They do not change the event.
PERF_FILTERS = ":mg=1:mh=1"


def main(path):
    """Write all presets, in the order of the file."""
    print('#include "events/mktables/tables.h"\nconst struct papi_line papi_lines[] = {')
    pmus, had = [], False
    for line in pathlib.Path(path).read_text().splitlines():
        word, *fields = [field.strip() for field in line.split(",") if field] or [""]
        if word == "CPU":
            pmus, had = ([] if had else pmus) + fields[:1], False
        elif word == "PRESET" and pmus:
            had = True
            name, how, *events = itertools.takewhile(lambda field: field and field.lower() not in NOTES, fields)
            events = [event.partition(PERF_FILTERS)[0] for event in events[how in FORMULAS:]]
            quoted = ", ".join(f'"{event}"' for event in events)
            for pmu in pmus:
                print(f'{{ "{pmu}", "{name}", {len(events)}, {{ {quoted} }} }},')
    print("{ NULL }\n};")


if __name__ == "__main__":
    main(*sys.argv[1:])
