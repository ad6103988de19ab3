#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A run that an interrupt or an NMI disturbed is marked, with the reason, and no other run is.

With -icount nothing disturbs a run by chance.  The program tests/cli/programs/disturb.c arms a timer that expires in the middle of one
run.  Or it waits in one run for an NMI, which QEMU's monitor sends."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from qmp_guest import ROOT, Guest, Points, cpio

RUNS = 6
EVENT = ("-e", "PAPI_tot_ins")


def build(arch, folder):
    """An archive with the program alone; its path."""
    program = folder / "disturb"
    subprocess.run([ROOT / "scripts/barecpc-cc", "--arch", arch, "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, "tests/cli/programs/disturb.c",
                    "-lpayload"], cwd=ROOT, check=True)
    path = folder / "disturb.cpio"
    path.write_bytes(cpio.pack({"disturb": program.read_bytes(), "suite": b"disturb none 1\n"}))
    return path


def run(arch, archive, *words, append="", options=()):
    """Standard output, and the records."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.jsonl"
        done = subprocess.run([ROOT / "scripts/barecpc", "run", "--arch", arch, "--accel", "tcg", "--results", results,
                               "--payload", archive, "--append", append, *options, "--", *words],
                              cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        lines = results.read_text().splitlines() if results.exists() else []
    if done.returncode != 0 or not lines:
        print(f"Bail out! {' '.join(words)}: exit {done.returncode}; {done.stderr.splitlines()[-2:]}")
        sys.exit(1)
    return done.stdout, [json.loads(line) for line in lines]


def marked(record):
    """The numbers of the disturbed runs, overhead runs as negative ones, each with its reasons."""
    found = {}
    for key, sign in (("measured", 1), ("overhead", -1)):
        for mark in (record["conditions"][key] or {"disturbed": []})["disturbed"]:
            found[sign * mark["run"]] = mark["reasons"]
    return found


def last_lines(out):
    """The lines after the last row."""
    lines = out.splitlines()
    return lines[max(i for i, line in enumerate(lines) if not line.startswith("#")) + 1:]


def check_timer(points, arch, archive, priv):
    name = f"{arch}, {priv} privilege"
    append, common = f"priv={priv}", ("disturb", "-r", str(RUNS))
    out, records = run(arch, archive, *common, *EVENT, "none", "1", append=append)
    points.check([marked(r) for r in records] == [{}] and last_lines(out) == [], f"{name}: undisturbed, no run is marked", out)

    for which in (1, RUNS) if priv == "user" else (4,):
        out, (record,) = run(arch, archive, *common, *EVENT, "timer", str(which), append=append)
        points.check(marked(record) == {which: ["1 interrupt, most runs 0"]}, f"{name}: a timer in run {which} marks that run",
                     str(record["conditions"]))
        wanted = [0] * RUNS
        wanted[which - 1] = 1
        points.check(record["conditions"]["measured"]["interrupts"] == wanted and
                     record["conditions"]["measured"]["excluded"] == 0, f"{name}: run {which} took one interrupt, and is kept")
        row = out.splitlines()[-3].split()[:2]
        points.check(last_lines(out) == [f"# disturbed: disturb {row[1]}: run {which} of {RUNS}: 1 interrupt, most runs 0",
                                         f"# disturbed: disturb {row[1]}: 1 of {RUNS} runs: not excluded (--undisturbed)"],
                     f"{name}: the last lines say so", *last_lines(out))

    both = f"PAPI_tot_ins:{'k' if priv == 'system' else 'u'},PAPI_tot_ins:k"
    out, records = run(arch, archive, *common, "-e", both, "--undisturbed", "timer", "3", append=append)
    kernel = records[-1]["count"]["measured"]
    if priv == "user":
        reasons = ["1 interrupt, most runs 0", f"{kernel['raw'][2]} events in the kernel, most runs 0"]
        points.check([marked(r) for r in records] == [{3: reasons}] * 2, f"{name}: the kernel's count is a reason, too",
                     str(records[0]["conditions"]))
    for record in records:
        measured = record["count"]["measured"]
        points.check(record["conditions"]["measured"]["excluded"] == 1 and len(measured["raw"]) == RUNS and
                     measured["range"] == 0 and measured["at_minimum"] == 1,
                     f"{name}: --undisturbed leaves it out of the aggregates of {record['privilege']}, not out of the record",
                     str(record["count"]))
    points.check(f": 1 of {RUNS} runs: excluded" in "".join(last_lines(out)[-1:]), f"{name}: and says so", *last_lines(out))


def check_stat(points, arch, archive):
    """stat runs the program in a new process each time: a timer expires in one of four.  The program itself counts nothing."""
    results = {}
    for words in ((), ("--undisturbed", "--aggregates")):
        done = subprocess.run([ROOT / "scripts/barecpc", "run", "--arch", arch, "--accel", "tcg", "--payload", archive, "--", "stat",
                               "-r", "4", *words, "-e", "PAPI_tot_ins:uk", "disturb", "-n", *EVENT, "fourth", "1"],
                              cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        results[words] = (done.returncode, [line for line in done.stderr.splitlines() if line.startswith("# stat: ")])
    status, lines = results[()]
    marks = [line for line in lines if line.startswith("# stat: disturbed: ")]
    points.check(status == 77 and len(marks) == 2 and re.fullmatch(
        r"# stat: disturbed: PAPI_tot_ins:uk: run [1-4] of 4: 1 interrupt, most runs 0", marks[0]) and
        marks[1] == "# stat: disturbed: PAPI_tot_ins:uk: 1 of 4 runs: not excluded (--undisturbed)",
        f"{arch}: stat marks the one run in which a timer expired", *lines)
    status, lines = results[("--undisturbed", "--aggregates")]
    points.check(status == 77 and lines[-1:] == ["# stat: disturbed: PAPI_tot_ins:uk: 1 of 4 runs: excluded"] and
                 any(line.startswith("# stat: PAPI_tot_ins:uk: min ") and line.endswith(" of 3 runs at the minimum")
                     for line in lines), f"{arch}: and excludes it with --undisturbed", *lines)


def check_nmi(points, archive, which=2):
    guest = Guest("x86_64", payload=archive, program=["disturb", "-r", str(RUNS), *EVENT, "nmi", str(which)])
    while guest.running() and b"ready" not in guest.out:
        time.sleep(0.01)
    guest.qmp("inject-nmi")
    guest.wait()
    record = guest.records[0] if guest.records else None
    marks = marked(record) if record else {}
    # The first NMI that no counter explains makes the kernel interrupt itself, to report the NMI.
    points.check(guest.exit == 0 and marks == {which: ["1 interrupt, most runs 0", "1 NMI, most runs 0"]},
                 f"x86_64: an NMI in run {which} marks that run", f"exit {guest.exit}", str(record and record["conditions"]))


def check_error(points, archive, which=3):
    """A machine check that QEMU's monitor logs in bank 4 as corrected: valid, nothing else."""
    guest = Guest("x86_64", payload=archive, program=["disturb", "-r", str(RUNS), "error", str(which)])
    while guest.running() and b"ready" not in guest.out:
        time.sleep(0.01)
    guest.monitor("mce 0 4 0x8000000000000136 0 0 0")
    guest.wait()
    record = guest.records[0] if guest.records else None
    marks = marked(record) if record else {}
    points.check(guest.exit == 0 and marks == {which: ["1 corrected machine check"]},
                 f"x86_64: an error that hardware corrected in run {which} marks that run", f"exit {guest.exit}",
                 str(record and record["conditions"]))
    lines = [line for line in guest.log if "machine check" in line]
    points.check(lines == ["cpu: machine check: CPU 0 bank 4: status 0x8000000000000136 (corrected)"], "x86_64: and leaves a line",
                 *lines)


def main():
    points = Points()
    for arch in sys.argv[1:] or ("arm64", "x86_64"):
        with tempfile.TemporaryDirectory() as folder:
            archive = build(arch, pathlib.Path(folder))
            for priv in ("user", "system"):
                check_timer(points, arch, archive, priv)
            check_stat(points, arch, archive)
            if arch == "x86_64":
                check_nmi(points, archive)
                check_error(points, archive)
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
