#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Without -icount, time is the host's: no difference wraps, and the default suite counts cycles only.

A count, tick or hrtime is a difference.  Noise makes some of them negative.
"""
import json
import os
import pathlib
import subprocess
import tempfile

from tap import check, end

ROOT = pathlib.Path(__file__).resolve().parents[3]
BOOTS = 50 if os.environ.get("BARECPC_CAMPAIGN") == "yes" else 10


def run(arch, *words):
    """Status, standard output and the records of a run."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.jsonl"
        done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", arch, "--accel", "tcg", "--no-icount",
                               "--results", results, *words], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        lines = results.read_text().splitlines() if results.exists() else []
    return done.returncode, done.stdout, [json.loads(line) for line in lines]


def series(record):
    """The series of a record: its name, and the object."""
    for key in ("count", "tick", "hrtime_ns"):
        for kind in ("measured", "overhead"):
            if record[key] and record[key][kind]:
                yield f"{record['label']} {record['event']} {key}", record[key][kind]


def wrapped(records):
    return [f"{name}: {s['raw']}" for r in records for name, s in series(r)
            if any(abs(v) >= 1 << 63 for v in [s["min"], s["median"], s["max"], *s["raw"]])]


def not_signed(records):
    """Series whose aggregates are not those of signed values."""
    return [f"{name}: {s}" for r in records for name, s in series(r)
            if s["min"] != min(s["raw"]) or s["max"] != max(s["raw"]) or s["range"] != s["max"] - s["min"]
            or s["negative"] != sum(v < 0 for v in s["raw"])]


statuses, counted, wraps, unsigned = [], [], [], []
for boot in range(BOOTS):
    arch = ("arm64", "x86_64")[boot % 2]
    status, _, records = run(arch)
    if status != 0:
        statuses.append(f"{arch}: status {status}")
    if not any(r["payload"] == "chase" and r["status"] == "counted" for r in records):
        counted.append(f"{arch}: {[r['label'] for r in records]}")
    wraps += wrapped(records)
    unsigned += not_signed(records)
check("the default suite ends with 0 if cycles count and instructions do not", statuses)
check("its last program counts cycles", counted)
check(f"no value of {BOOTS} boots is above 2^63", wraps)
check("the aggregates are those of signed values", unsigned)

# One more iteration is less than the noise, so about half of 100 differences are negative.
status, out, records = run("arm64", "--", "spin", "-r", "100", "-e", "PAPI_tot_cyc", "1000", "1001")
negative = [(name, s) for r in records for name, s in series(r) if any(v < 0 for v in s["raw"])]
check("spin ends with 0", [] if status == 0 else [f"status {status}"])
check("negative differences are kept", [] if negative else [str(records)[:300]])
check("the record counts them", not_signed(records) + wrapped(records))
check("the table marks them", [] if out.count("\n# negative differences: spin/pic") == len(negative) else [out[-600:]])
for arch in ("arm64", "x86_64"):
    status, out, _ = run(arch, "--", "spin", "-r", "1", "-w", "0")
    check(f"{arch}: spin alone counts no instructions, and ends with 77", [] if status == 77 and "<not supported>" in out
          else [f"status {status}", out[-600:]])
end()
