#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""`barecpc compare` judges each kind of row as docs/ci.md says, and refuses what is no file of records."""
import copy
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from made_records import quantity, record
from tap import check, end

ROOT = pathlib.Path(__file__).resolve().parents[3]


def compare(a, b, *options):
    """Status, standard output and standard error of a comparison of files with these records, or these bytes."""
    for name, content in (("A", a), ("B", b)):
        if content is None:
            continue
        data = content if isinstance(content, bytes) else "".join(json.dumps(r) + "\n" for r in content).encode()
        (folder / f"{name}.jsonl").write_bytes(data)
    done = subprocess.run([sys.executable, ROOT / "scripts" / "barecpc", "compare", "A.jsonl", "B.jsonl", *options], cwd=folder,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def expect(name, status, pattern, a, b, *options):
    """The comparison ends with this status, and a line of its output matches."""
    got, out, err = compare(a, b, *options)
    lines = f"{out}{err}".splitlines()
    check(name, ([] if got == status else [f"status {got}, not {status}"] + lines) +
          ([] if any(re.search(pattern, line) for line in lines) else [f"no line matches {pattern}"] + lines) +
          ([] if status != 125 or len(lines) == 1 else ["more than one line"] + lines))


def raised(by, label="triad/8", **members):
    return [record(label, [1000 + by] * 5, **members)]


def exact_rows():
    base = raised(0) + [record("triad/8", [2000] * 5, "PAPI_tot_cyc")]
    expect("the same counts", 0, "^2 same; 0 failed$", base, base)
    expect("a count that rose by 1", 1, r"^triad/8 +PAPI_tot_ins:u +1000 +1001 +\+1 +\+0.100% +differs$", base, raised(1) + base[1:])
    expect("a count that fell", 1, r" -1 +-0.100% +differs$", base, raised(-1) + base[1:])
    expect("a row that is new", 1, r"^triad/16 .* - +1000 +- +- +new$", base, base + raised(0, "triad/16"))
    expect("a row that is missing", 1, r"^triad/8 +PAPI_tot_cyc:u +2000 +- +- +- +missing$", base, base[:1])
    expect("a row that is no longer counted", 1, " 1000 +- +- +- +no longer counted; no PIC can count it$", base,
           [record("triad/8", None), base[1]])
    expect("a row that is counted now", 1, " - +1000 +- +- +counted now; no PIC can count it$", [record("triad/8", None), base[1]], base)
    expect("a row that neither counts", 0, " not counted; no PIC can count it$", *(2 * ([record("triad/8", None), base[1]],)))
    expect("nothing is counted in both", 125, "^host: A.jsonl, B.jsonl: no row is counted in both", *(2 * ([record("triad/8", None)],)))
    expect("other work", 1, "other work; iterations: 10, then 20$", base, [base[0] | {"iterations": 20}, base[1]])
    expect("a result that is no longer verified", 1, "no longer verified$", base, [base[0] | {"verified": False}, base[1]])
    expect("a label that occurs twice is two rows", 1, r"^1 same, 1 differs; 1 failed$", raised(0) + raised(0), raised(0) + raised(1))
    big = (1 << 62) + 1
    expect("a count beyond the digits of a double", 1, rf" {big} +{big + 1} +\+1 ", [record("l", [big])], [record("l", [big + 1])])
    runs = {"disturbed": [{"run": 2, "reasons": ["2 interrupts, most runs 0"]}], "excluded": 0}
    disturbed = base[0] | {"conditions": {"measured": runs, "overhead": None}}
    expect("disturbed runs are shown", 0, r"same; B: 1 of 5 runs disturbed \(2 interrupts, most runs 0\)$", base, [disturbed, base[1]])
    other = copy.deepcopy(base)
    for r in other:
        r["machine"] |= {"cpu": "second", "pics": [{"pic": 0, "width": 64}], "stray_nmis": 3}
    expect("another machine is named", 0, '^# machine: cpu: "first", then "second"$', base, other)
    expect("also in a list", 0, r"^# machine: pics.width: \[48\], then \[64\]$", base, other)
    check("what changes within a run is no other machine", re.findall("stray_nmis", compare(base, other)[1]))
    check("a record of version 1 before `conditions`",
          [] if compare([{k: v for k, v in base[0].items() if k != "conditions"}], raised(0))[0] == 0 else ["it is refused"])


def limits():
    base = raised(0) + [record("triad/8", [2000] * 5, "PAPI_tot_cyc")]
    rose = raised(10) + [record("triad/8", [2030] * 5, "PAPI_tot_cyc")]
    expect("rises within the limits", 0, "differs; allowed$", base, rose, "--fail-above", "1%", "--fail-above", "PAPI_tot_cyc=1.5%")
    expect("a rise above its limit", 1, r"\+1.500% +differs$", base, rose, "--fail-above", "1%")
    expect("a rise of exactly the limit", 0, "; 0 failed$", base[:1], rose[:1], "--fail-above", "1%")
    expect("a rise by one more", 1, "; 1 failed$", base[:1], raised(11), "--fail-above", "1%")
    expect("a limit for one event and privilege", 1, "; 1 failed$", base, rose, "--fail-above", "PAPI_tot_cyc:u=2%")
    expect("a fall", 0, "; 0 failed$", base, raised(-500) + base[1:], "--fail-above", "0%")
    expect("a new row is allowed", 0, "; 0 failed$", base, base + raised(0, "new"), "--fail-above", "1%")
    expect("a missing row is not", 1, "; 1 failed$", base + raised(0, "new"), base, "--fail-above", "1%")
    expect("a rise from 0", 1, "; 1 failed$", [record("l", [0])], [record("l", [1])], "--fail-above", "50%")
    expect("a limit for an event of neither file", 125, "^host: --fail-above PAPI_tot_inz: neither file", base, base,
           "--fail-above", "PAPI_tot_inz=1%")
    expect("no limit", 125, "^host: argument --fail-above: 1: not a limit such as ", base, base, "--fail-above", "1")


def intervals():
    noisy = {"clock": "host", "accel": "kvm"}
    # Each of the 252 ways to split ten values is equally likely if nothing differs.  Mann and Whitney's U is below 3 in
    # four of them, and above 22 in four.  These, and no others, leave 0 out of a 95 % interval.
    splits = list(itertools.combinations(range(10), 5))
    a = [record(f"split/{n}", list(split), host=noisy) for n, split in enumerate(splits)]
    b = [record(f"split/{n}", [v for v in range(10) if v not in split], host=noisy) for n, split in enumerate(splits)]
    expect("8 of 252 equally likely outcomes are errors", 1, "^244 not shown to differ, 8 differs; 8 failed$", a, b)
    expect("as the first lines say", 1, r"^# by a 95 % confidence interval of the change \(docs/ci\.md\): 252 rows$", a, b)
    expect("a confidence of 99 %", 1, "^250 not shown to differ, 2 differs; ", a, b, "--confidence", "99%")
    few = [record("l", [1, 2, 3], host=noisy)]
    expect("too few runs", 1, "undecided; too few runs: 3, then 3; 4 of each are enough$", few, few)
    # Differences of {0, 10, 20, 30, 40} and {100, 110, 120, 130, 140}: the third smallest and the third largest.
    low, high = list(range(0, 50, 10)), list(range(100, 150, 10))
    expect("the interval", 1, r" \+100 \[\+70, \+130\] +\+500.000% +differs$", [record("l", low, host=noisy)], [record("l", high, host=noisy)])
    expect("a rise is shown to be above the limit", 1, "; 1 failed$", [record("l", high, host=noisy)],
           [record("l", [v + 100 for v in high], host=noisy)], "--fail-above", "58%")
    expect("or is not", 0, "; 0 failed$", [record("l", high, host=noisy)],
           [record("l", [v + 100 for v in high], host=noisy)], "--fail-above", "59%")
    # The overhead rose as much as the runs did.  Each has half of the error, so the second smallest and largest count.
    expect("the overhead has its own interval", 0, r" \+0 \[-60, \+60\] .* not shown to differ", [record("l", low, overhead=low, host=noisy)],
           [record("l", high, overhead=high, host=noisy)], "--all")
    expect("one file of a machine with noise is enough", 0, "not shown to differ; 0 failed$", [record("l", low)], [record("l", low, host=noisy)])
    expect("exact on request", 0, "^# exactly: 1 rows$", *(2 * ([record("l", low, host=noisy)],)), "--by", "exact")
    excluded = {"measured": {"disturbed": [{"run": 5, "reasons": ["moved"]}], "excluded": 1}, "overhead": None}
    expect("excluded runs are left out of the interval", 1, r"undecided; .*5, then 3; ", [record("l", low, host=noisy)],
           [record("l", [1, 2, 3, 999], host=noisy, conditions={"measured": {"disturbed": [{"run": 4, "reasons": ["moved"]}],
                                                                               "excluded": 1}, "overhead": None})], "--confidence", "99%")
    long = [record("l", list(range(n, n + 9000, 3)), host=noisy, conditions=excluded) for n in (0, 2000)]
    expect("3,000 runs", 1, r"\+2000 \[\+18\d\d, \+21\d\d\]", long[:1], long[1:])


def times():
    timed = [record("l", None, hrtime_ns=quantity([5000])), record("l", None, hrtime_ns=quantity([5001]))]
    expect("times are compared on request", 1, r"^l +hrtime_ns \(PAPI_tot_ins:u\) +5000 +5001 ", timed[:1], timed[1:], "--time")
    expect("they have limits", 0, "; 0 failed$", timed[:1], timed[1:], "--time", "--fail-above", "hrtime_ns=1%")


def markdown():
    label = "a|b`c"
    expect("Markdown: the summary", 1, r"^\*\*barecpc: 1 differs; 1 failed\*\*$", raised(0), raised(1), "--markdown")
    expect("Markdown: a row", 1, r"^\| `a\\\|b'c` \| `PAPI_tot_ins:u` \| `1000` \| `1001` \| `\+1` \| `\+0.100%` \| \*\*`differs`\*\* \|$",
           raised(0, label), raised(1, label), "--markdown")


def bad_input():
    good = raised(0)
    line = json.dumps(good[0]).encode()
    expect("an empty file", 125, "^host: A.jsonl: it is empty: ", b"", good)
    expect("text", 125, "^host: B.jsonl: line 1 is not JSON: name a file that", good, b"# no record\n")
    expect("bytes", 125, "^host: A.jsonl: line 1 is not JSON: ", bytes(range(256)), good)
    expect("a torn last line", 125, "^host: B.jsonl: line 2 is cut off: the run did not end: ", good, line + b"\n" + line[:-9])
    expect("a torn line in the middle", 125, "^host: A.jsonl: line 1 is not JSON: ", line[:-9] + b"\n" + line, good)
    check("a last line without a newline", [] if compare(line, good)[0] == 0 else ["it is refused"])
    expect("JSON of another program", 125, "^host: A.jsonl: line 1 is no record, which has a `schema`: ", b'{"benchmarks": []}\n', good)
    expect("JSON that is no object", 125, "^host: A.jsonl: line 1 is no record", b"[1]\n", good)
    expect("nested too deeply", 125, "^host: A.jsonl: line 1 is not JSON", b"[" * 100000, good)
    expect("another schema", 125, "^host: A.jsonl: line 1 has schema 2, not 1: ", [good[0] | {"schema": 2}], good)
    for member, value in (("count", {"net": 1}), ("count", None), ("label", 3), ("privilege", []), ("machine", 1), ("runs", True), ("runs", 0),
                          ("iterations", 10**400), ("arguments", [1]), ("conditions", {"measured": {"disturbed": [7], "excluded": 0}}),
                          ("status", "lost"), ("verified", "yes"), ("hrtime_ns", quantity([1]) | {"net": 1.5})):
        expect(f"{member} that is {str(value)[:20]}", 125, f"^host: B.jsonl: line 1: {member} is not as docs/records.md has it: ", good,
               [good[0] | {member: value}])
    (folder / "B.jsonl").unlink()
    expect("a file that does not exist", 125, "^host: B.jsonl: No such file or directory: ", good, None)
    profile = {"schema": 1, "payload": "record", "folded": [["a;b", 3]]}
    expect("profiles are not compared", 0, "^# B: B.jsonl: 1 rows; 1 profiles or files, not compared$", good, good + [profile])
    expect("what cannot be printed is replaced", 1, "^l\ufffd\ufffd ", [record("l\x1b\ud800", [1]), *good], good)
    old, new = [record("prog.old/8", [100])], [record("prog.new/8", [101])]
    expect("two files without a common row", 125, "^host: A.jsonl, B.jsonl: no row is in both: prog.old in the first, prog.new in the second: pair .*--pair", old, new)
    expect("--pair compares two programs", 1, r"^prog.new/8 +PAPI_tot_ins:u +100 +101 +\+1 +\+1.000% +differs$", old, new, "--pair", "prog.old=prog.new")
    expect("--pair of rows that are the same", 0, "^1 same; 0 failed$", old, [record("prog.new/8", [100])], "--pair", "prog.old=prog.new")


def real_runs():
    """Two boots of a program count the same, and a boot in the host's time is compared by intervals."""
    def boot(name, *options):
        done = subprocess.run(["scripts/barecpc", "run", "--arch", "arm64", "--accel", "tcg", "--results", folder / name, *options,
                               "--", "triad", "-e", "PAPI_tot_cyc", "64"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return (folder / name).read_bytes() if done.returncode == 0 else done.stderr.encode()
    first, second, timed = boot("1"), boot("2"), boot("3", "--no-icount")
    expect("two runs of emulation", 0, "^1 same; 0 failed$", first, second)
    expect("a run in the host's time", 0, "^# by a 95 % confidence interval ", timed, timed)
    # The counts may agree by chance, so the status is not known.
    out = compare(first, timed)[1]
    check("the clock is named", [] if '# machine: host.clock: "virtual", then "host"\n' in out else out.splitlines())


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for part in (exact_rows, limits, intervals, times, markdown, bad_input, real_runs):
        part()
end()
