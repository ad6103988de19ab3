"""`barecpc compare`: which counts differ between two files of records (docs/ci.md)."""

import argparse
import collections
import dataclasses
import fractions
import json
import re

from host.emulator.qemu import HostError
from host.results import records, shift

STATUS_SAME = 0
STATUS_DIFFERS = 1

HELP = """
A row is compared exactly if both files come from emulation whose time is a count of instructions.
Else a confidence interval of the change decides: a row differs if the interval leaves out 0.

status:
  0    same: nothing differs; with --fail-above: no count rose above its limit, and no row was lost
  1    something differs: a count, or a row that is new, missing, or no longer counted
  125  bad input: a file is no record file, or no row is counted in both
"""

# Members of `machine` that change within a run.
UNSTEADY = {"stray_nmis", "spin_failed", "settings_now", "status", "status_now"}
SAME, NOT_SHOWN, DIFFERS, NEW, MISSING, LOST, GAINED, UNCOUNTED, UNDECIDED, OTHER_WORK, WRONG = VERDICTS = (
    "same", "not shown to differ", "differs", "new", "missing", "no longer counted", "counted now", "not counted", "undecided",
    "other work", "no longer verified")
# These never fail, and with a limit the next ones do not either.
PASSING = {SAME, NOT_SHOWN, UNCOUNTED}
ALLOWED = {*PASSING, NEW, GAINED}


@dataclasses.dataclass
class Row:
    """One event of one label, in both files."""

    label: str
    event: str
    verdict: str
    before: int | None = None
    after: int | None = None
    interval: tuple[int, int] | None = None  # of the change, unless it is exact
    notes: list[str] = dataclasses.field(default_factory=list)
    fails: bool = True


def add_arguments(parser):
    parser.epilog, parser.formatter_class = HELP, argparse.RawDescriptionHelpFormatter
    parser.add_argument("before", metavar="A.jsonl", help="records of `barecpc run --results`")
    parser.add_argument("after", metavar="B.jsonl", help="the records to compare with them")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for a pull request")
    parser.add_argument("--all", action="store_true", help="list the rows that are the same, too")
    parser.add_argument("--fail-above", action="append", default=[], type=_limit, metavar="[EVENT=]N%",
                        help="fail only if a count (of EVENT) rises by more than N percent")
    parser.add_argument("--pair", action="append", default=[], type=_names, metavar="OLD=NEW",
                        help="compare the rows of program OLD in A with those of NEW in B")
    parser.add_argument("--time", action="store_true", help="compare tick and hrtime_ns of each row, too")
    parser.add_argument("--by", choices=["exact", "interval"], help="how to compare, whatever the machines are")
    parser.add_argument("--confidence", type=_confidence, default=0.95, metavar="N%", help="of each interval (95%%)")


def main(args):
    limits = dict(args.fail_above)
    before, after = records.load(args.before), records.load(args.after)
    _pair(before[0], dict(args.pair))
    a, b = (_quantities(measurements, args.time) for measurements, _ in (before, after))
    keys = [*a, *(key for key in b if key not in a)]
    for event in limits:
        if not any(event in _limit_names(a.get(key, b.get(key)), key[3]) for key in keys):
            raise HostError(f"--fail-above {event}: neither file has this event: give its name as the table has it")
    rows = [_judge(a.get(key), b.get(key), key[3], args, limits) for key in keys]
    if not a.keys() & b.keys():
        raise HostError(f"{args.before}, {args.after}: no row is in both: {_programs(before[0])} in the first, {_programs(after[0])} in the second: "
                        "pair two programs by --pair OLD=NEW")
    if all(row.verdict == UNCOUNTED for row in rows):
        raise HostError(f"{args.before}, {args.after}: no row is counted in both, so nothing can be compared"
                        f"{'' if args.time else ': --time compares the times'}")
    (_print_markdown if args.markdown else _print_text)(args, rows, _remarks(args, before, after, rows))
    return STATUS_DIFFERS if any(row.fails for row in rows) else STATUS_SAME


def _names(text):
    old, equals, new = text.partition("=")
    if not old or not new:
        raise argparse.ArgumentTypeError(f"{text}: not of the form OLD=NEW")
    return old, new


def _pair(measurements, names):
    """Give rows of one program the name of another: as payload, or as the first part of the label."""
    for record in measurements:
        first, slash, rest = record["label"].partition("/")
        record["payload"] = names.get(record["payload"], record["payload"])
        record["label"] = names.get(record["label"], names.get(first, first) + slash + rest)


def _programs(measurements):
    return ", ".join(sorted({record["label"].partition("/")[0] for record in measurements})) or "nothing"


def _limit(text):
    event, _, number = text.rpartition("=")
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?%", number):
        raise argparse.ArgumentTypeError(f"{text}: not a limit such as 1% or PAPI_tot_ins=0.5%")
    return event, fractions.Fraction(number[:-1]) / 100


def _confidence(text):
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?%", text) or not 50 <= float(text[:-1]) < 100:
        raise argparse.ArgumentTypeError(f"{text}: not a confidence from 50% to less than 100%")
    return float(text[:-1]) / 100


def _quantities(measurements, time):
    """The record of each quantity to compare.  A label that occurs again is another row."""
    return records.numbered(((r["payload"], r["label"], records.event_name(r), quantity), r)
                            for r in measurements for quantity in records.QUANTITIES
                            if quantity == "count" or time and r[quantity] is not None)


def _limit_names(record, quantity):
    """The names that --fail-above may use for this quantity, the most exact one first.  "" names every quantity."""
    return (records.event_name(record), record["event"], "") if quantity == "count" else (quantity, "")


def _judge(a, b, quantity, args, limits):
    """The row of a quantity of the records a and b, one of which may be None."""
    known = b or a
    event = records.event_name(known)
    row = Row(known["label"], event if quantity == "count" else f"{quantity} ({event})", SAME)
    limit = next((limits[name] for name in _limit_names(known, quantity) if name in limits), None)
    row.before, row.after = (r[quantity]["net"] if r and r[quantity] else None for r in (a, b))
    row.notes = [f"{name}: {text}" for name, r in (("A", a), ("B", b)) if r and (text := records.disturbed(r))]
    if b is None or a is None:
        row.verdict = MISSING if b is None else NEW
    elif row.after is None or row.before is None:
        row.verdict = UNCOUNTED if row.before is row.after else LOST if row.after is None else GAINED
        row.notes.append((b if row.after is None else a).get("reason", ""))
    elif a["verified"] and not b["verified"]:
        row.verdict = WRONG
    elif work := _other_work(a, b, quantity):
        row.verdict = OTHER_WORK
        row.notes.append(work)
    else:
        _judge_change(row, a, b, quantity, args)
    if limit is None:
        row.fails = row.verdict not in PASSING
    elif row.verdict == DIFFERS:
        least = row.interval[0] if row.interval else row.after - row.before
        row.fails = least > limit * abs(row.before)
        if not row.fails:
            row.notes.insert(0, "allowed")
    else:
        row.fails = row.verdict not in ALLOWED
    return row


def _other_work(a, b, quantity):
    """Why the two counts are of different work, or ""."""
    for member in ("iterations", "overhead_method"):
        if a[member] != b[member]:
            return f"{member}: {a[member]}, then {b[member]}"
    if bool(a.get("interrupted")) or bool(b.get("interrupted")):
        return "interrupted: a run ended by Ctrl-C"
    if (a[quantity]["overhead"] is None) != (b[quantity]["overhead"] is None):
        return "overhead: measured in one only"
    return ""


def _judge_change(row, a, b, quantity, args):
    if args.by == "exact" or args.by is None and records.deterministic(a) and records.deterministic(b):
        row.verdict = SAME if row.before == row.after else DIFFERS
        return
    # The measured runs and those of the overhead share the accepted error.
    kinds = ["measured"] if a[quantity]["overhead"] is None else ["measured", "overhead"]
    error = (1 - args.confidence) / len(kinds)
    samples = [(records.used(a, a[quantity], kind), records.used(b, b[quantity], kind)) for kind in kinds]
    shifts = [shift.interval(*sample, error) for sample in samples]
    if None in shifts:
        row.verdict = UNDECIDED
        needed = shift.runs_needed(error)
        row.notes.append(f"too few runs: {len(samples[0][0])}, then {len(samples[0][1])}; "
                         f"{f'{needed} of each are enough' if needed else 'lower --confidence'}")
        return
    less = shifts[1] if len(shifts) > 1 else (0, 0)
    row.interval = shifts[0][0] - less[1], shifts[0][1] - less[0]
    row.verdict = NOT_SHOWN if row.interval[0] <= 0 <= row.interval[1] else DIFFERS


def _flat(value, path=""):
    """(path, value) of all members of a description of a machine."""
    if isinstance(value, list) and all(isinstance(element, dict) for element in value):
        # One list for each member, as all PICs have the same members.
        value = {key: [element.get(key) for element in value] for key in dict.fromkeys(key for element in value for key in element)}
    if isinstance(value, dict):
        for key, element in value.items():
            if key not in UNSTEADY:
                yield from _flat(element, f"{path}.{key}" if path else key)
    else:
        yield path, json.dumps(value, ensure_ascii=False)


def _machines(measurements):
    """All values of each member of the machines."""
    members = {}
    for record in measurements:
        for path, value in _flat(record["machine"]):
            members.setdefault(path, {})[value] = None
    return {path: " | ".join(values) for path, values in members.items()}


def _remarks(args, before, after, rows):
    """The lines before the rows: files, machines, methods."""
    for name, path, (measurements, others) in (("A", args.before, before), ("B", args.after, after)):
        yield f"{name}: {path}: {len(measurements)} rows" + (f"; {len(others)} profiles or files, not compared" if others else "")
    a, b = _machines(before[0]), _machines(after[0])
    for path in [*a, *(path for path in b if path not in a)]:
        if a.get(path) != b.get(path):
            yield f"machine: {path}: {a.get(path, 'absent')}, then {b.get(path, 'absent')}"
    a, b = (records.sums(others) for _, others in (before, after))
    for path in [*a, *(path for path in b if path not in a)]:
        if a.get(path) != b.get(path):
            yield f"file: {path}: {a.get(path, 'absent')[:16]}, then {b.get(path, 'absent')[:16]}"
    compared = [row for row in rows if row.verdict in (SAME, NOT_SHOWN, DIFFERS)]
    bounded = sum(row.interval is not None for row in compared)
    if bounded:
        yield f"by a {100 * args.confidence:g} % confidence interval of the change (docs/ci.md): {bounded} rows"
    if bounded < len(compared):
        yield f"exactly: {len(compared) - bounded} rows"


def _summary(rows):
    counts = collections.Counter(row.verdict for row in rows)
    failed = sum(row.fails for row in rows)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]) + f"; {failed} failed"


def _cells(row):
    """Row, event, A, B, change, percent, verdict with notes."""
    change = percent = "-"
    if row.before is not None and row.after is not None:
        change = f"{row.after - row.before:+d}"
        if row.interval:
            change += f" [{row.interval[0]:+d}, {row.interval[1]:+d}]"
        if row.before:
            percent = f"{100 * (row.after - row.before) / abs(row.before):+.3f}%"
    verdict = "; ".join([row.verdict, *filter(None, row.notes)])
    return [row.label, row.event, *("-" if n is None else str(n) for n in (row.before, row.after)), change, percent, verdict]


HEADS = ["row", "event", "A", "B", "change", "percent", "verdict"]


def _listed(args, rows):
    return [row for row in rows if args.all or row.verdict not in (SAME, NOT_SHOWN) or row.notes]


def _print_text(args, rows, remarks):
    for remark in remarks:
        print(f"# {remark}")
    table = [_cells(row) for row in _listed(args, rows)]
    if table:
        widths = [max(len(line[i]) for line in [HEADS, *table]) for i in range(len(HEADS))]
        for line in [HEADS, *table]:
            words = [word.ljust(width) if i in (0, 1, 6) else word.rjust(width) for i, (word, width) in enumerate(zip(line, widths))]
            print("  ".join(words).rstrip())
    print(_summary(rows))


def _code(text):
    """Text as it is, in a cell of a Markdown table."""
    return "`" + text.replace("`", "'").replace("|", "\\|") + "`" if text != "-" else text


def _print_markdown(args, rows, remarks):
    print(f"**barecpc: {_summary(rows)}**\n")
    for remark in remarks:
        print(f"- {_code(remark)}")
    listed = _listed(args, rows)
    if listed:
        print("\n| " + " | ".join(HEADS) + " |\n| --- | --- | ---: | ---: | ---: | ---: | --- |")
    for row in listed:
        cells = [_code(cell) for cell in _cells(row)]
        if row.fails:
            cells[-1] = f"**{cells[-1]}**"
        print(f"| {' | '.join(cells)} |")
