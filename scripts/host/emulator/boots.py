"""`barecpc run --boots N`: the spread of counts over boots, which the range of the runs of one boot does not show."""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

from host import files
from host.emulator import guest, qemu
from host.results import records
from host.terminal import say, say_wrong

MOST = 1000
ROW = "{:16} {:18} {:>15} {:>31} {:>12} {:>6}"


def words_of(words):
    """The words for one boot: without --boots, and without --results, which has the records of all."""
    at = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--boots")
    parser.add_argument("--results")
    return parser.parse_known_args(words[:at])[1] + words[at:]


def run(args, words):
    """Boot args.boots times, and print the table.  Returns the first status that is not 0."""
    boots, kept, status = [], [], 0
    with tempfile.TemporaryDirectory(prefix="barecpc.") as folder:
        path = pathlib.Path(folder) / "records"
        for number in range(1, args.boots + 1):
            done = subprocess.run([sys.executable, str(qemu.ROOT / "scripts" / "barecpc"), "run", "--quiet", f"--results={path}",
                                   *words_of(words)], stdin=subprocess.DEVNULL, capture_output=True)
            status = status or done.returncode
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
            if not path.exists() or path.stat().st_size == 0:
                raise qemu.HostError(f"boot {number} of {args.boots}: status {done.returncode}, and no record: {said[-1]}")
            if done.returncode not in (0, guest.STATUS_NOTHING_COUNTED):
                say_wrong(f"host: boot {number} of {args.boots}: status {done.returncode}: {said[-1]}")
            boots.append(records.load(path)[0])
            kept.append(path.read_bytes())
            path.unlink()
    if args.results:
        files.replace(args.results, b"".join(kept))
    sys.stdout.write(table(boots))
    say(f"host: {args.boots} boots")
    return status


def table(boots):
    """The text of the table: a line for each row that some boot counted."""
    rows = {}
    for boot in boots:
        numbered = records.numbered(((r["label"], records.event_name(r), records.arguments(r)), r["count"]) for r in boot)
        for key, count in numbered.items():
            rows.setdefault(key, []).extend([count] if count else [])
    lines = [f"# count: median of the medians of {len(boots)} boots, and min..max of these; range: the largest of one boot's runs",
             ROW.format("payload", "event", "count", "min..max", "range", "boots")]
    for (label, event, *_), counts in rows.items():
        if not counts:
            lines.append(ROW.format(label, event, "<not counted>", "-", "-", 0))
            continue
        nets = [count["net"] for count in counts]
        within = max(count["measured"]["max"] - count["measured"]["min"] for count in counts)
        lines.append(ROW.format(label, event, statistics.median_low(nets), f"{min(nets)}..{max(nets)}", within, len(counts)))
    return "\n".join(lines) + "\n"
