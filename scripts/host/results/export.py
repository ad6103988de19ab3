"""`barecpc export`: writes records in the formats of other programs (docs/stat.md)."""

import argparse
import csv
import io
import json
import pathlib
import sys
from xml.etree import ElementTree

from host import files, terminal
from host.emulator.qemu import HostError
from host.results import page, profile_export, profiles, records

HELP = """
formats:
  google-benchmark         JSON of Google Benchmark, for its compare.py
  github-action-benchmark  JSON for its tool customSmallerIsBetter
  bencher                  Bencher Metric Format
  junit, tap               a test for each row: not counted is skipped, not verified failed
  csv                      all rows, with their raw values
  html                     one page with plots, which loads nothing else
  of a profile of `barecpc record`:
  perf-script              the text of perf script
  pprof                    profile.proto, gzipped
  speedscope               JSON of speedscope
  folded                   a line for each stack, for flamegraph.pl

status:
  0    written
  125  bad input, or nothing to write: FILE keeps what it had
"""


def add_arguments(parser):
    parser.epilog, parser.formatter_class = HELP, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--to", required=True, choices=[*FORMATS, *profile_export.FORMATS], metavar="FORMAT", help="a format of the list below")
    parser.add_argument("-o", dest="output", metavar="FILE", help="write to FILE, not to standard output")
    parser.add_argument("records", metavar="A.jsonl", help="records of `barecpc run --results`, or a profile")


def main(args):
    if args.to in profile_export.FORMATS:
        made = profile_export.FORMATS[args.to](profiles.Profile(args.records))
        _put(args.output, made if isinstance(made, bytes) else made.encode(errors="replace"))
        return 0
    measurements, others = records.load(args.records)
    make, fits = FORMATS[args.to]
    known = [record for record in measurements if fits(record)]
    sampled = [record for record in others if record.get("payload") == "record"]
    if not known and not (args.to == "html" and sampled):
        raise HostError(f"{args.records}: no row has what --to {args.to} shows: nothing is written")
    left_out = len(measurements) - len(known)
    if left_out:
        print(f"host: {args.records}: {left_out} rows have no value for --to {args.to}: they are left out", file=sys.stderr)
    rows = records.numbered(((r["label"], records.event_name(r)), r) for r in known)
    text = make(rows, sampled) if args.to == "html" else make(rows)
    _put(args.output, text.encode())
    return 0


def _put(output, data):
    if output:
        files.replace(pathlib.Path(output), data)
    else:
        terminal.pass_on(sys.stdout, data)


def _always(_):
    return True


def _counted(record):
    return record["count"] is not None


def _timed(record):
    return record["hrtime_ns"] is not None


def _again(number):
    """The suffix for the name of a row that occurs again."""
    return f" ({number})" if number > 1 else ""


def _name(key):
    label, event, number = key
    return f"{label} {event}{_again(number)}"


def _json(value):
    return json.dumps(value, indent=1) + "\n"


def google_benchmark(rows):
    """A benchmark for each row, and in it a repetition for each run.  The counter has the event's name."""
    benchmarks = []
    for family, (key, r) in enumerate(rows.items()):
        times = records.net(r["hrtime_ns"])
        counts = records.net(r["count"]) if r["count"] else []
        # Both have one value for each run, unless a program wrote the record by other means.
        for number, time in enumerate(times):
            name = f"{key[0]}/{key[1]}{_again(key[2])}".replace(" ", "_")  # a blank ends the name in its compare.py
            benchmarks.append({
                "name": name, "family_index": family, "per_family_instance_index": 0, "run_name": name, "run_type": "iteration",
                "repetitions": len(times), "repetition_index": number, "threads": 1, "iterations": r["iterations"],
                "real_time": time / r["iterations"], "cpu_time": time / r["iterations"], "time_unit": "ns",
                **({key[1]: counts[number] / r["iterations"]} if number < len(counts) else {})})
    machine = next(iter(rows.values()))["machine"]
    context = {"executable": "barecpc", "num_cpus": machine.get("cpus", 1), "cpu_scaling_enabled": False,
               "library_build_type": "release", "json_schema_version": 1, "machine": json.dumps(machine)}
    return _json({"context": context, "benchmarks": benchmarks})


def github_action_benchmark(rows):
    """A list of values of which the smaller is better.  The range is half of max - min."""
    return _json([{"name": _name(key), "unit": "events", "value": r["count"]["net"],
                   "range": f"± {(r['count']['measured']['max'] - r['count']['measured']['min']) / 2:g}",
                   "extra": f"{r['runs']} runs of {r['iterations']} iterations\n{records.arguments(r)}"} for key, r in rows.items()])


def bencher(rows):
    """A benchmark for each label, a measure for each event; the limits are the smallest and the largest run."""
    table = {}
    for (label, event, number), r in rows.items():
        net = records.net(r["count"])
        table.setdefault(label + _again(number), {})[event] = {
            "value": r["count"]["net"], "lower_value": min(net), "upper_value": max(net)}
    return _json(table)


def _say(r):
    """The count in words, for reports of tests."""
    if not r["count"]:
        return r.get("reason") or r["status"]
    return f"{r['count']['net']}, {r['count']['net'] / r['iterations']:.3f} an iteration; raw: {r['count']['measured']['raw']}"


def junit(rows):
    """A test case for each row, a suite for each payload.  Jenkins' schema allows three digits for the seconds of a suite."""
    root = ElementTree.Element("testsuites")
    suites = {}
    for key, r in rows.items():
        suite = suites.setdefault(r["payload"], [])
        seconds = sum(r["hrtime_ns"]["measured"]["raw"]) / 1e9 if r["hrtime_ns"] else 0
        case = ElementTree.Element("testcase", classname=r["payload"], name=_name(key), time=f"{seconds:.9f}")
        if not r["verified"]:
            ElementTree.SubElement(case, "failure", message="the program's result is wrong")
        elif not r["count"]:
            ElementTree.SubElement(case, "skipped", message=_say(r))
        if r["count"]:
            ElementTree.SubElement(case, "system-out").text = _say(r)
        suite.append(case)
    for name, cases in suites.items():
        suite = ElementTree.SubElement(
            root, "testsuite", name=name, tests=str(len(cases)), errors="0", time=f"{sum(float(c.get('time')) for c in cases):.3f}",
            failures=str(sum(c.find("failure") is not None for c in cases)), skipped=str(sum(c.find("skipped") is not None for c in cases)))
        suite.extend(cases)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def tap(rows):
    """A point for each row.  A `#` or backslash of a name is escaped, because `#` begins a directive."""
    lines = ["TAP version 13", f"1..{len(rows)}"]
    for number, (key, r) in enumerate(rows.items(), 1):
        name = _name(key).replace("\\", "\\\\").replace("#", "\\#")
        skip = "" if r["count"] or not r["verified"] else " # SKIP " + _say(r).replace("#", "\\#")
        lines.append(f"{'ok' if r['verified'] else 'not ok'} {number} - {name}{skip}")
        if r["count"]:
            lines += ["  ---", f"  net: {r['count']['net']}", f"  raw: {json.dumps(r['count']['measured']['raw'])}", "  ..."]
    return "\n".join(lines) + "\n"


COLUMNS = ("payload", "label", "event", "privilege", "status", "reason", "runs", "iterations", "overhead_method", "verified")


def _cell(value):
    """Text that a spreadsheet does not take for a formula."""
    return "'" + value if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value


def csv_table(rows):
    """A line for each row.  Raw values are separated by blanks; a count that is null is empty."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*COLUMNS, "arguments", *(f"{name}_{part}" for name in records.QUANTITIES for part in ("net", "raw", "overhead_raw"))])
    for r in rows.values():
        cells = [_cell(r.get(column)) for column in COLUMNS] + [_cell(records.arguments(r))]
        for quantity in (r[name] for name in records.QUANTITIES):
            cells.append(quantity["net"] if quantity else None)
            cells += [" ".join(map(str, quantity[kind]["raw"])) if quantity and quantity[kind] else None for kind in ("measured", "overhead")]
        writer.writerow(cells)
    return text.getvalue()


# How each format is made, and which rows it can show.
FORMATS = {"google-benchmark": (google_benchmark, _timed), "github-action-benchmark": (github_action_benchmark, _counted),
           "bencher": (bencher, _counted), "junit": (junit, _always), "tap": (tap, _always), "csv": (csv_table, _always),
           "html": (page.make, _always)}
