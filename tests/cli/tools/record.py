#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Profiles are true: the functions of a program with known shares get their samples, within the sampling bound.

An overflow is reported at the instruction that caused it.  So the samples of an LWP are at every period-th instruction
that it executes.  A block of b instructions has floor(b / period) samples or one more.  A function that is visited v
times has at most v samples more or less than its share.  No chance is involved.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from tap import check, end

ROOT = pathlib.Path(__file__).resolve().parents[3]
MILLION = 1000000
SHARES = {"one": 1, "two": 2, "three": 3, "four": 4}  # of tests/cli/programs/shares.c, in millions of instructions
PERIOD = 10007
PROFILER = 350  # instructions of the profiler in a period, at most, if the kernel is counted
CALLS = 75000
TURNS = 4 * MILLION
AROUND = 30  # instructions of a function around its loop, at most


class Run:
    """A run of the payload `record`, and its output files."""

    def __init__(self, folder, arch, options, *words):
        names = [folder / name for name in ("results.jsonl", "folded", "flame.svg")]
        for name in names:
            name.unlink(missing_ok=True)
        done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", arch, "--accel", "tcg", *options, "--results",
                               names[0], "--folded", names[1], "--flamegraph", names[2], "--", "record", *words],
                              cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace")
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        records = [json.loads(line) for line in names[0].read_text().splitlines()] if names[0].exists() else []
        self.records = [record for record in records if record["payload"] == "record"]
        self.folded = dict(line.rsplit(" ", 1) for line in names[1].read_text().splitlines())
        self.folded = {stack: int(samples) for stack, samples in self.folded.items()}
        self.svg = names[2].read_text()

    def table(self):
        """Samples by program, level and symbol."""
        rows = re.findall(r"^ *[\d.]+% +(\d+)  (.+?) +\[([.k])\] (.+)$", self.out, re.M)
        return {row[1:]: int(row[0]) for row in rows}

    def samples_of(self, name):
        """Samples in this function, of any program."""
        return sum(samples for (_, kind, symbol), samples in self.table().items() if (kind, symbol) == (".", name))

    def totals_wrong(self):
        """Table, folded stacks, flame graph and record have the same number of samples.  The record has the lost ones, too."""
        if not self.records:
            return [f"status {self.status}, no record: {self.err.splitlines()[-3:]}"]
        title = xml.etree.ElementTree.fromstring(self.svg).find("{*}g/{*}title")
        root = re.search(r"all \((\d+) samples, 100.00%\)", title.text if title is not None else "")
        totals = {"record": self.records[0]["samples"] - self.records[0]["lost"], "table": sum(self.table().values()),
                  "folded": sum(self.folded.values()), "flame graph": int(root[1]) if root else None}
        return [str(totals)] if len(set(totals.values())) != 1 or not totals["record"] else []


def between(name, samples, low, high):
    return [] if low <= samples <= high else [f"{name}: {samples} samples, not {low} to {high}"]


def exact(run, rounds, threads, period, lwps=0):
    """At user privilege a period has exactly this number of the program's instructions."""
    wrong, visits, lwps = [], rounds * threads, lwps or threads
    for name, share in SHARES.items():
        length = share * MILLION // rounds
        wrong += between(name, run.samples_of(name), visits * (length // period), visits * (-(-(length + AROUND) // period)))
    record = run.records[0]
    # Each LWP ends with an unfinished period.
    left = record["events"] - record["samples"] * period
    if record["lwps"] != lwps or record["lost"] or record["missed"] or not 0 <= left < lwps * period:
        wrong.append(f"{record['lwps']} LWPs, {record['lost']} lost, {record['missed']} missed, {left} events in unfinished periods")
    return wrong


def proportional(run, rounds):
    """If the kernel is counted, its return from a sample is a part of each period, the same for all."""
    total = sum(run.samples_of(name) for name in SHARES)
    wrong = [] if total > 500 else [f"only {total} samples"]
    for name, share in SHARES.items():
        # For each of the four c = s T + e with |e| <= v, so |c - s C| <= v (1 + 4 s).
        slack = rounds * (1 + 4 * share / 10)
        wrong += between(name, run.samples_of(name), total * share / 10 - slack, total * share / 10 + slack)
    return wrong


def profile_truth(folder, arch, options, program):
    options = [*options, "--payload", program]
    for rounds, threads, smp in ((1, 1, 1), (10, 1, 1), (10, 4, 1), (10, 4, 4)):
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


def kernel_cost(arch, options, often, seldom):
    """The exact number of instructions that the kernel executes for tests/cli/programs/calls.c."""
    done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", arch, "--accel", "tcg", *options, "--", "stat", "-j",
                           "-e", "PAPI_tot_ins:k", "calls", str(often), str(seldom), "1"], cwd=ROOT,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    found = re.search(r'"counter-value" : "(\d+)', done.stdout + done.stderr)
    return int(found[1]) if found else 0


def block(name, samples, events, late=0):
    """A block of events has one sample in each period.  A period may be shorter by the profiler's own count, or longer by a
    late interrupt."""
    return between(name, samples, events // (PERIOD + late) - 1, events // (PERIOD - PROFILER) + 1)


def inside(run, names, arch):
    """Samples of each function of the program are in the kernel, and not in the other call's function.  They need not be in
    the call's own function.  If a period and a call have a common factor, some instructions of the call are never sampled."""
    wrong = []
    for caller, own in names.items():
        leaves = {stack.rsplit(";", 1)[1] for stack in run.folded if f";{caller};" in stack}
        if arch == "arm64":
            wrong += [f"{caller}: {leaves}"] if leaves != {"[kernel]_[k]"} else []
        elif not leaves or any(other + "_[k]" in leaves for other in names.values() if other != own):
            wrong.append(f"{caller}: {leaves}")
        wrong += [f"{caller}: {leaf}" for leaf in leaves if not leaf.endswith("_[k]")]
    return wrong


def kernel_truth(folder, arch, options, program):
    """Events of the kernel are sampled in the kernel, with their caller, if the kernel can be interrupted.  On arm64 they
    are sampled when the kernel returns, one call later at most."""
    what, options = f"{arch} {' '.join(options)}:", [*options, "--payload", program]
    once = kernel_cost(arch, options, CALLS, 0)
    often = kernel_cost(arch, options, 2 * CALLS, 0) - once
    seldom = kernel_cost(arch, options, CALLS, CALLS) - once
    late = (max(often, seldom) // CALLS + PROFILER) if arch == "arm64" else 0
    run = Run(folder, arch, options, "-g", "-e", "PAPI_tot_ins:k", "-c", str(PERIOD), "calls", str(3 * CALLS), str(CALLS), "1")
    check(f"{what} the kernel's events: table, stacks and flame graph agree", run.totals_wrong())
    samples = {name: sum(n for stack, n in run.folded.items() if f";{name};" in stack) for name in ("often", "seldom")}
    check(f"{what} each call has its share", block("often", samples["often"], 3 * often, late) +
          block("seldom", samples["seldom"], seldom, late))
    check(f"{what} the kernel's events are where they happened",
          inside(run, {"often": "sys_getppid", "seldom": "sys_sched_yield"}, arch))
    record = run.records[0]
    own = (record["events"] - once - 2 * often - seldom) / record["samples"]
    check(f"{what} the profiler's own part of a period", [] if 0 < own <= PROFILER + late else [f"{own} events"])

    run = Run(folder, arch, options, "-g", "-e", "PAPI_tot_ins:uk", "-c", str(PERIOD), "calls", str(CALLS), "0", str(TURNS))
    kernel = sum(n for stack, n in run.folded.items() if ";often" in stack)
    # One turn of the loop around the call takes at most four instructions of the program.
    wrong = between("often", kernel, often // (PERIOD + late) - 1, (often + 4 * CALLS) // (PERIOD - PROFILER) + 1)
    wrong += block("idle", run.samples_of("idle"), 2 * TURNS)
    leaves = {stack.rsplit(";", 1)[1] for stack in run.folded if ";often" in stack}
    if arch != "arm64":
        wrong += [f"often: {leaves}"] if not any(leaf.endswith("_[k]") for leaf in leaves) else []
        wrong += [leaf for leaf in leaves if leaf != "often" and not leaf.endswith("_[k]")]
    check(f"{what} user and kernel are separate", wrong)


def family_truth(folder, arch, options, shares, tree):
    """The children and programs of the program are profiled with it, each by the names of its own functions."""
    options = [*options, "--payload", shares, "--payload", tree]
    for smp in (1, 4):
        what = f"{arch}: {smp} CPUs: three children that execute another program"
        run = Run(folder, arch, [*options, "--smp", str(smp)], "-g", "-c", "997", "tree", "run", "3", "shares", "1", "1")
        check(f"{what}: table, stacks and flame graph agree", run.totals_wrong())
        check(f"{what}: every share", exact(run, 1, 3, 997, lwps=4) if run.records else ["no record"])
        odd = [stack for stack in run.folded if not re.match(r"(shares|tree);", stack)]
        odd += [stack for stack in run.folded if re.search(r";(one|two|three|four)$", stack) and not stack.startswith("shares;")]
        check(f"{what}: stacks begin with the program", odd)
    for words, function, visits in (("fork 3", "children", 3), ("exec 3", "main", 3), ("next", "main", 1)):
        run = Run(folder, arch, options, "-c", "997", "tree", *words.split(), str(MILLION))
        low, high = visits * (2 * MILLION // 997), visits * (-(-(2 * MILLION + AROUND) // 997))
        check(f"{arch}: tree {words}", run.totals_wrong() + between(function, run.samples_of(function), low, high))
    # A sample per instruction: each program has the same number at _start.
    one, two = (Run(folder, arch, options, "-c", "1", "tree", word, "1").samples_of("_start") for word in ("turn", "next"))
    check(f"{arch}: the next program from its first instruction on",
          [] if 0 < 2 * one == two else [f"_start has {one} samples, of two programs {two}"])
    run = Run(folder, arch, options, "-c", "997", "tree", "orphan")
    left = "# LWPs that outlived the program, and are not sampled to their end: 1\n"
    check(f"{arch}: a child that does not end", [] if run.status == 0 and left in run.out else [run.out, run.err])
    run = Run(folder, arch, options, "-e", "PAPI_tot_ins:uk", "-c", "10007", "tree", "run", "3", "shares", "1", "1")
    check(f"{arch}: the kernel, too, from program to program", run.totals_wrong() + proportional(run, 3))


def made_code(folder, arch):
    """Code that a program made has the name that it says, or none.  It has not the name of the last symbol of the file."""
    compile_payload(arch, "made", folder / "made")
    for words, symbol in (([], "[unknown]"), (["made by hand"], "made by hand")):
        run = Run(folder, arch, ["--payload", folder / "made"], "-c", "997", "made", str(MILLION), *words)
        check(f"{arch}: code of a program's own making: {symbol}",
              run.totals_wrong() + between(symbol, run.samples_of(symbol), 2 * MILLION // 997, 2 * MILLION // 997 + 1))


def silence(folder, program, tree):
    """The head says how much of the events the samples stand for, and a line how many periods have no sample."""
    run = Run(folder, "arm64", ["--payload", tree], "-c", "1000003", "tree", "fork", "8", "400000")
    said = re.search(r"^# .* 0 samples, (\d+) events, LWPs: 9, sampled: 0\.00%$", run.out, re.M)
    check("arm64: eight processes that end within their first period", [] if said and int(said[1]) > 6400000 else [run.out, run.err])
    run = Run(folder, "arm64", ["--payload", program, "--no-icount"], "-e", "PAPI_tot_cyc", "-c", "1009", "shares", "1", "1")
    record = run.records[0] if run.records else {"samples": 0, "missed": 0, "events": 0}
    periods = record["samples"] + record["missed"]
    said = f"# {record['missed']} of {periods} periods have no sample: " in run.out
    # After each late sample a whole period begins again.
    low, high = record["events"] // 1009 - record["samples"] - 1, record["events"] // 1009
    check("arm64: time is the host's: interrupts come late", [] if run.status == 0 and said and record["missed"] > 0 and
          low <= periods <= high else [f"status {run.status}, {record}", run.out, run.err])
    # The last instruction of the program ends a period.  It has a sample, although the LWP does not return from its call.
    run = Run(folder, "arm64", ["--payload", tree], "-c", "1", "tree", "turn", "1")
    record = run.records[0] if run.records else {"samples": 0, "missed": 0, "events": 1}
    check("arm64: each instruction has a sample, the last one, too", [] if record["samples"] == record["events"] > 500 and
          record["missed"] == 0 and run.status == 0 else [str(record)[:300], run.err])


def short_periods(folder, program):
    """In the kernel the shortest period leaves most of it to the program."""
    run = Run(folder, "x86_64", ["--payload", program], "-e", "PAPI_tot_ins:k", "-c", "1000", "calls", "20000", "0", "1")
    check("x86_64: a period of 1000", [] if run.status == 0 and run.records and run.records[0]["lost"] == 0
          else [f"status {run.status}", *run.err.splitlines()[-3:]])
    run = Run(folder, "x86_64", ["--payload", program], "-e", "PAPI_tot_ins:k", "-c", "999", "calls", "1", "0", "1")
    found = re.search(r"^record: -c: 999 is not within 1000\.\.", run.err, re.M)
    check("x86_64: a shorter period is refused", [] if run.status == 2 and found else [f"status {run.status}", *run.err.splitlines()[-3:]])


def refusals(folder, program):
    def refused(words, status, line, options=()):
        run = Run(folder, "arm64", ["--payload", program, *options], *words)
        found = re.search(line, run.err + run.out, re.M)
        check(f"record {' '.join(words)}", [] if run.status == status and found else [f"status {run.status}",
                                                                                      *run.err.splitlines()[-3:]])

    refused(["-c", "0", "shares"], 2, r"^record: -c: 0 is not within 1\.\.2147483647$")
    refused(["-c", "997", "-e", "PAPI_tot_ins:k", "shares"], 2, r"^record: -c: 997 is not within 10000\.\.")
    refused(["-c", "12x", "shares"], 2, '^record: -c: not a number: "12x"$')
    refused(["-c", "2147483648", "shares"], 2, r"^record: -c: 2147483648 is not within 1\.\.2147483647$")
    refused(["-q"], 2, "^record: -q: no such option$")
    refused(["--nope", "shares"], 2, "^record: --nope: no such option$")
    refused(["--timeout"], 2, "^record: --timeout: needs an argument$")
    refused(["--timeout", "9", "shares"], 2, r"^record: --timeout: 9 is not within 10\.\.1000000000 ms$")
    refused(["-g"], 2, "^record: no program to profile$")
    refused(["no_such"], 2, "^record: no_such: No such file or directory$")
    refused(["-e", "no_such", "shares", "1", "1"], 2,
            r"^record: no_such: Unknown event: no table of events exists for this CPU \(implementer 0, part 0x51\): raw codes \(r1c0, 0x1c0\)")
    refused(["-e", "INST_RETIRE", "shares", "1", "1"], 2, r"^record: INST_RETIRE: Unknown event: did you mean INST_RETIRED\?$",
            ["--cpu", "neoverse-n1"])
    refused(["-e", "0x10000", "shares", "1", "1"], 2, "^record: 0x10000: Unknown event: request 0: an event's number is at most ")
    # A known event that this machine lacks.
    refused(["-e", "bus-cycles", "shares", "1", "1"], 77, "^record: <not supported>: bus-cycles: this PMU has no event for perf's name$")
    refused(["-e", "PAPI_l1_tcm", "shares", "1", "1"], 77, "^record: <not supported>: PAPI_l1_tcm: Unknown event: no table of events exists for this CPU ")
    refused(["shares"], 2, "^# PAPI_tot_ins:u, ")  # the status of the program
    refused(["shares", "1", "1"], 77, "^record: <not supported>: PMU absent: ", ["--cpu", "max,pmu=off"])
    refused(["record", "shares", "1", "1"], 1, "^record: PAPI_tot_ins: the counters are in use, by ")  # of the inner record
    refused(["triad", "64"], 77, "^# <not counted>: the counters are in use, by ")


def endless(folder, program):
    """A program that --timeout ends has a profile: 10 of 30 ms, and a slice of 4 ms for each LWP that record waits for."""
    run = Run(folder, "arm64", ["--payload", program], "-g", "-c", "9973", "--timeout", "10", "shares", "1", "3")
    said = re.search(r"^record: shares: ended after 10 ms \(--timeout\)$", run.err, re.M)
    samples = sum(run.folded.values())
    check("arm64: a program that is ended by --timeout", run.totals_wrong() +
          ([] if run.status == 137 and said and 500 < samples <= 22000000 // 9973 else [f"status {run.status}, {samples} samples"]))


def after_profiles(folder, arch, options):
    """After two profiles of the kernel, programs count what they counted before them in the same boot."""
    programs = ["spin", "triad 1024"]
    profiles = [f"record -e PAPI_{event}:k -c 20011 triad 1024" for event in ("tot_ins", "tot_cyc")]
    (folder / "suite").write_text("".join(line + "\n" for line in [*programs, *profiles, *programs]))
    subprocess.run([ROOT / "scripts" / "mkcpio", "-o", folder / "suite.cpio", folder / "suite"], cwd=ROOT, check=True)
    done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", arch, "--accel", "tcg", *options, "--payload",
                           folder / "suite.cpio", "--results", folder / "results.jsonl"], cwd=ROOT, stdin=subprocess.DEVNULL,
                          capture_output=True, encoding="utf-8", errors="replace")
    records = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    counts = [[record["event"], record["count"]["measured"]["raw"]] for record in records if record.get("count")]
    half = len(counts) // 2
    check(f"{arch} {' '.join(options)}: programs after two profiles of the kernel",
          [] if done.returncode == 0 and half > 1 and counts[:half] == counts[half:] else [f"status {done.returncode}", *counts])


def long_names(folder):
    """A name is printed in full, in the table and in the stacks.  A frame separator in it is replaced."""
    name = "f" + 5000 * "o"
    compile_payload("arm64", "shares", folder / "long names;", f"-Dfour={name}")
    run = Run(folder, "arm64", ["--payload", folder / "long names;"], "-g", "-c", "9973", "long names;", "1", "1")
    leaves = sum(n for stack, n in run.folded.items() if stack.startswith("long:names:;") and stack.endswith(";main;" + name))
    wrong = [] if leaves == run.samples_of(name) > 400 else [f"{leaves} stacks, {run.samples_of(name)} samples"]
    check("arm64: a function's name of 5,001 letters, and a program's with blanks", run.totals_wrong() + wrong)


def odd_names(folder):
    """Names are bytes, but records and pictures are text: bytes that are not UTF-8 are replaced."""
    program = folder / "odd"
    for name, text in ((b"fo\xffr", "fo\ufffdr"), ("f\u00fcr".encode(), "f\u00fcr"), (b"\xed\xa0\x80r", 3 * "\ufffd" + "r"),
                       (b"f\"<r", "f\"<r")):
        compile_payload("arm64", "shares", program)
        program.write_bytes(program.read_bytes().replace(b"\0four\0", b"\0" + name + b"\0"))
        run = Run(folder, "arm64", ["--payload", program], "-g", "-c", "9973", "odd", "1", "1")
        leaves = sum(n for stack, n in run.folded.items() if stack.endswith(";main;" + text))
        check(f"arm64: a function's name of the bytes {name!r}", run.totals_wrong() + ([] if leaves > 400 else [f"{run.folded}"]))


def compile_payload(arch, source, program, *options):
    subprocess.run([ROOT / "scripts" / "barecpc-cc", "--arch", arch, "-O2", "-fno-omit-frame-pointer", *options, "-o", program,
                    f"tests/cli/programs/{source}.c"], cwd=ROOT, check=True)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for arch in ("arm64", "x86_64"):
            (folder / arch).mkdir()
            for program in ("calls", "shares", "tree"):
                compile_payload(arch, program, folder / arch / program)
            program = folder / arch / "shares"
            for options in ([],) if arch == "arm64" else (["--cpu", "intel-v5"], ["--cpu", "amd-legacy"]):
                kernel_truth(folder, arch, options, folder / arch / "calls")
                profile_truth(folder, arch, options, program)
            family_truth(folder, arch, [], program, folder / arch / "tree")
            made_code(folder / arch, arch)
        silence(folder, folder / "arm64" / "shares", folder / "arm64" / "tree")
        for arch, options in (("arm64", []), ("arm64", ["--cpu", "cortex-a72"]), ("x86_64", ["--cpu", "intel-v1"]),
                              ("x86_64", ["--cpu", "intel-v5"]), ("x86_64", ["--cpu", "amd-legacy"])):
            after_profiles(folder, arch, options)
        endless(folder, folder / "arm64" / "shares")
        long_names(folder)
        odd_names(folder)
        short_periods(folder, folder / "x86_64" / "calls")
        refusals(folder, folder / "arm64" / "shares")
        words = ["-g", "-c", "997", "shares", "3", "3"]
        first, second = (Run(folder, "arm64", ["--payload", folder / "arm64" / "shares"], *words) for _ in range(2))
        check("two runs leave the same", [] if (first.out, first.folded, first.svg) == (second.out, second.folded, second.svg)
              else ["they differ"])
    end()


if __name__ == "__main__":
    sys.exit(main())
