#!/usr/bin/env python3
"""Profiles are true: a program whose functions execute known shares is found where it is, to the sampling bound.

An overflow is told at the instruction that made it, so the samples of an LWP are at every period-th instruction it
executes.  Of b instructions that follow one another, whichever they are, floor(b / period) or one more are sampled;
a function that is visited v times has at most v samples more or less than its share.  No chance is involved.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
MILLION = 1000000
SHARES = {"one": 1, "two": 2, "three": 3, "four": 4}  # of tests/cli/shares.c, in millions of instructions
AROUND = 30  # what a function executes around its loop, at most
points = []


def check(name, wrong):
    """One point: `wrong` lists what is not as it should be."""
    points.append(not wrong)
    print(f"{'not ok' if wrong else 'ok'} {len(points)} - {name}")
    for line in wrong[:10]:
        print(f"# {line}")


class Run:
    """A run of the payload `record`, and all it leaves."""

    def __init__(self, folder, arch, options, *words):
        names = [folder / name for name in ("results.jsonl", "folded", "flame.svg")]
        for name in names:
            name.unlink(missing_ok=True)
        done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", arch, "--accel", "tcg", *options, "--results",
                               names[0], "--folded", names[1], "--flamegraph", names[2], "--", "record", *words],
                              cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        records = [json.loads(line) for line in names[0].read_text().splitlines()]
        self.records = [record for record in records if record["payload"] == "record"]
        self.folded = dict(line.rsplit(" ", 1) for line in names[1].read_text().splitlines())
        self.folded = {stack: int(samples) for stack, samples in self.folded.items()}
        self.svg = names[2].read_text()

    def table(self):
        """Samples by symbol."""
        rows = re.findall(r"^ *([\d.]+)% +(\d+)  \S+ +\[([.k])\] (.+)$", self.out, re.M)
        return {(kind, symbol): int(samples) for _, samples, kind, symbol in rows}

    def samples_of(self, name):
        return self.table().get((".", name), 0)

    def totals_wrong(self):
        """Table, folded stacks, flame graph and record tell of the same number of samples."""
        if not self.records:
            return [f"status {self.status}, no record: {self.err.splitlines()[-3:]}"]
        title = xml.etree.ElementTree.fromstring(self.svg).find("{*}g/{*}title")
        root = re.search(r"all \((\d+) samples, 100.00%\)", title.text if title is not None else "")
        totals = {"record": self.records[0]["samples"], "table": sum(self.table().values()),
                  "folded": sum(self.folded.values()), "flame graph": int(root[1]) if root else None}
        return [str(totals)] if len(set(totals.values())) != 1 or not totals["record"] else []


def between(name, samples, low, high):
    return [] if low <= samples <= high else [f"{name}: {samples} samples, not {low} to {high}"]


def exact(run, rounds, threads, period):
    """At user privilege a period is exactly so many of the program's instructions."""
    wrong, visits = [], rounds * threads
    for name, share in SHARES.items():
        length = share * MILLION // rounds
        wrong += between(name, run.samples_of(name), visits * (length // period), visits * (-(-(length + AROUND) // period)))
    record = run.records[0]
    # Each LWP leaves a part of a period behind.
    left = record["events"] - record["samples"] * period
    if record["lwps"] != threads or record["lost"] or not 0 <= left < threads * period:
        wrong.append(f"{record['lwps']} LWPs, {record['lost']} lost, {left} events left over")
    return wrong


def proportional(run, rounds):
    """Where the kernel is counted, its way back from a sample is a part of each period, the same for all."""
    total = sum(run.samples_of(name) for name in SHARES)
    wrong = [] if total > 500 else [f"only {total} samples"]
    for name, share in SHARES.items():
        # c = s T + e, |e| <= v, for each of the four: so |c - s C| <= v (1 + 4 s).
        slack = rounds * (1 + 4 * share / 10)
        wrong += between(name, run.samples_of(name), total * share / 10 - slack, total * share / 10 + slack)
    return wrong


def profile_truth(folder, arch, options, program):
    options = [*options, "--payload", program]
    for rounds, threads, smp in ((1, 1, 1), (10, 1, 1), (10, 4, 1)) + (((10, 4, 4),) if arch == "x86_64" else ()):
        what = f"{arch} {' '.join(options[:-2])}: user, {rounds} rounds, {threads} threads, {smp} CPUs"
        run = Run(folder, arch, [*options, "--smp", str(smp)], "-g", "-c", "997", "shares", str(rounds), str(threads))
        check(f"{what}: table, stacks and flame graph agree", run.totals_wrong())
        check(f"{what}: every share", exact(run, rounds, threads, 997) if run.records else ["no record"])
    stacks = [stack for stack in run.folded if re.fullmatch(r"shares(;\w+)*;(main|start);(one|two|three|four)", stack)]
    check(f"{arch}: stacks lead from main, or from a thread's start", [] if len(stacks) >= 8 else sorted(run.folded))
    for privilege, suffix in (("system", "k"), ("system", "uk"), ("user", "uk")):
        run = Run(folder, arch, [*options, "--append", f"priv={privilege}"], "-e", f"PAPI_tot_ins:{suffix}", "-c", "10007",
                  "shares", "1", "1")
        what = f"{arch} {' '.join(options[:-2])}: {suffix}, at {privilege} privilege"
        check(f"{what}: table, stacks and flame graph agree", run.totals_wrong())
        check(f"{what}: every share", proportional(run, 1))


def kernel_truth(folder, arch, program):
    """The kernel's events are found where the program asked for them: three of four calls in often(), one in seldom()."""
    run = Run(folder, arch, ["--payload", program], "-g", "-e", "PAPI_tot_ins:k", "-c", "10007", "calls")
    check(f"{arch}: the kernel's events: table, stacks and flame graph agree", run.totals_wrong())
    often, seldom = (run.table().get(("k", name), 0) for name in ("often", "seldom"))
    wrong = [] if often + seldom > 500 else [f"only {often + seldom} samples"]
    # As in proportional(): e of the two is at most 1 each, so |c - s C| <= 1 + s.
    wrong += between("often", often, (often + seldom) * 3 / 4 - 1.75, (often + seldom) * 3 / 4 + 1.75)
    wrong += [stack for stack in run.folded if not stack.endswith(";[kernel]_[k]")]
    check(f"{arch}: the kernel's events are where it was called", wrong)


def refusals(folder, program):
    def refused(words, status, line, options=()):
        run = Run(folder, "arm64", ["--payload", program, *options], *words)
        found = re.search(line, run.err + run.out, re.M)
        check(f"record {' '.join(words)}", [] if run.status == status and found else [f"status {run.status}",
                                                                                      *run.err.splitlines()[-3:]])

    refused(["-c", "0", "shares"], 2, r"^record: -c: 0 is not within 1\.\.2147483647$")
    refused(["-c", "997", "-e", "PAPI_tot_ins:k", "shares"], 2, r"^record: -c: 997 is not within 10000\.\.")
    refused(["-c", "12x", "shares"], 2, '^record: -c: not a number: "12x"$')
    refused(["-q"], 2, "^record: -q: no such option$")
    refused(["-g"], 2, "^record: no program to profile$")
    refused(["no_such"], 2, "^record: no_such: No such file or directory$")
    refused(["-e", "no_such", "shares", "1", "1"], 1, "^record: no_such: Invalid argument$")
    refused(["shares"], 2, "^# PAPI_tot_ins:u, ")  # the program's own status
    refused(["shares", "1", "1"], 77, "^# <not supported>: no counters here$", ["--cpu", "max,pmu=off"])
    refused(["triad", "64"], 0, "^# <not counted>: .*Resource temporarily unavailable")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for arch in ("arm64", "x86_64"):
            (folder / arch).mkdir()
            for program in ("calls", "shares"):
                subprocess.run([ROOT / "scripts" / "barecpc-cc", "--arch", arch, "-O2", "-fno-omit-frame-pointer", "-o",
                                folder / arch / program, f"tests/cli/{program}.c"], cwd=ROOT, check=True)
            program = folder / arch / "shares"
            kernel_truth(folder, arch, folder / arch / "calls")
            for options in ([],) if arch == "arm64" else (["--cpu", "intel-v5"], ["--cpu", "amd-legacy"]):
                profile_truth(folder, arch, options, program)
        refusals(folder, folder / "arm64" / "shares")
        words = ["-g", "-c", "997", "shares", "3", "3"]
        first, second = (Run(folder, "arm64", ["--payload", folder / "arm64" / "shares"], *words) for _ in range(2))
        check("two runs leave the same", [] if (first.out, first.folded, first.svg) == (second.out, second.folded, second.svg)
              else ["they differ"])
    print(f"1..{len(points)}")
    return 0 if all(points) else 1


if __name__ == "__main__":
    sys.exit(main())
