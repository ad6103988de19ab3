#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Counts survive noise: ten boots under a real KVM with a busy Linux, and ten in the host's time on a busy host.

The KVM is that of a Linux in emulation (docs/vpmu.md).
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from tap import check, end

ROOT = pathlib.Path(__file__).resolve().parents[3]
RUNS = 10
NOTHING_COUNTED = 77
SPIN = 4000  # what spin counts at user privilege
# No counter here has fewer than 31 usable bits, and no program of the suite comes near 2^31 of anything in one window.
WIDTH = 1 << 31


def run(arch, *words):
    """Status, records and standard error of a run of the default suite."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.jsonl"
        done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", arch, "--timeout", "900", "--results", results, *words],
                              cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        lines = results.read_text().splitlines() if results.exists() else []
    return done.returncode, [json.loads(line) for line in lines], done.stderr


def counts(records):
    for r in records:
        if r["count"] and r["count"]["measured"]:
            yield r, r["count"]["measured"]


def off_by_width(records):
    return [f"{r['label']} {r['event']}: {s['raw']}" for r, s in counts(records) if any(abs(v) >= WIDTH for v in s["raw"])]


def not_shown_as_negative(records):
    return [f"{r['label']} {r['event']}: {s}" for r, s in counts(records) if s["negative"] != sum(v < 0 for v in s["raw"])]


for arch in ("arm64", "x86_64"):
    ends, exact, odd = [], [], []
    for _ in range(RUNS):
        # pack sends the records compressed: each character of the inner console is slow.
        status, records, said = run(arch, "--accel", "nested-kvm", "--load", "2", "--", "pack")
        if status != 0:
            ends.append(f"status {status}: {said[-300:]}")
        spins = [s for r, s in counts(records) if (r["payload"], r["event"], r["privilege"]) == ("spin", "PAPI_tot_ins", "user")]
        exact += [s for s in spins if s["min"] != SPIN] or ([] if spins else ["spin counted nothing"])
        odd += off_by_width(records) + not_shown_as_negative(records)
    check(f"{arch}: {RUNS} runs under KVM in a busy Linux end with 0", ends)
    check(f"{arch}: each minimum of spin at user privilege is exact", exact)
    check(f"{arch}: no value is off by a counter's width, and negative values are marked", odd)

# Two busy processes on each CPU of the host.
# Each ends with this script, also if a signal ends it.
SPIN_WHILE_THERE = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
busy = [subprocess.Popen([sys.executable, "-c", SPIN_WHILE_THERE]) for _ in range(4)]
for arch in ("arm64", "x86_64"):
    ends, instructions, cycles, odd = [], [], [], []
    for _ in range(RUNS):
        status, records, said = run(arch, "--accel", "tcg", "--no-icount")
        if status not in (0, NOTHING_COUNTED):
            ends.append(f"status {status}: {said[-300:]}")
        instructions += [r["label"] for r in records if r["event"] == "PAPI_tot_ins" and r["status"] != "not supported"]
        counted = [(r, s) for r, s in counts(records) if r["event"] == "PAPI_tot_cyc"]
        # QEMU's cycles are the host's time at 1 GHz, so a window counts its own length in ns.  The clock is read outside
        # the window, so the cycles are fewer by one turn of the host's scheduler at most: 0.1 s in all.
        cycles += [f"{r['label']}: {s['min']} cycles in {r['hrtime_ns']['measured']['min']} ns" for r, s in counted
                   if not 0 < s["min"] <= r["hrtime_ns"]["measured"]["max"] + 10**8] or ([] if counted else ["no cycles"])
        odd += off_by_width(records) + not_shown_as_negative(records)
    check(f"{arch}: {RUNS} runs in the host's time on a busy host end with 0 or {NOTHING_COUNTED}", ends)
    check(f"{arch}: instructions are not supported there", instructions)
    check(f"{arch}: cycles are plausible", cycles)
    check(f"{arch}: in the host's time no value is off by a counter's width, and negative values are marked", odd)
for process in busy:
    process.kill()
    process.wait()
end()
