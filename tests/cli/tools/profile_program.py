#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""`scripts/barecpc record ./prog`, `report` and `annotate` show the true functions, lines and instructions of samples.

The program's functions execute known shares of its instructions, as in tests/cli/tools/record.py.  pprof reads its
export if it is installed.  In a campaign speedscope and stackvis, which are fetched, read the others.
`scripts/setup --campaign` installs pprof and a browser.
"""
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import readers
import schema
from readers import ROOT
from speedscope import Speedscope
from tap import check, end, skip

SHARES = {"one": 1, "two": 2, "three": 3, "ns::four()": 4}  # millions of instructions
PERIOD = 9973


def barecpc(*words):
    return readers.run(folder, readers.BARECPC, *words)


def compile_program(arch, *options):
    subprocess.run([ROOT / "scripts" / "barecpc-cc", "--arch", arch, "-O2", "-fno-omit-frame-pointer", *options, "-o", folder / "shares",
                    ROOT / "tests" / "cli" / "programs" / "shares.c"], check=True)


def table(done):
    """The rows of a report: samples by their last column."""
    return {text: int(count) for count, text in re.findall(r"^ *[\d.]+% +(\d+)  \S+ +(?:\[.\] )?(.*)$", done.stdout, re.M)}


def shares_wrong(rows):
    """A block of n instructions has floor(n / PERIOD) samples or one more, and here each function has two blocks, one a thread."""
    wrong = []
    for name, millions in SHARES.items():
        least = 2 * (millions * 10**6 // PERIOD)
        if not least <= rows.get(name, 0) <= least + 4:
            wrong.append(f"{name}: {rows.get(name)} samples, not {least} to {least + 4}")
    return wrong


def truth(arch):
    # A name that the C++ compiler would write: it is printed demangled.
    compile_program(arch, "-Dfour=_ZN2ns4fourEv")
    done = barecpc("record", "--accel", "tcg", "-g", "-c", str(PERIOD), "./shares", "1", "2")
    check(f"{arch}: record prints nothing of its own", [] if (done.returncode, done.stdout) == (0, "") and re.fullmatch(
        r"host: barecpc.data: \d+ samples: see barecpc report\n", done.stderr) else [done.stdout, done.stderr])
    check(f"{arch}: the profile is as the schema has it", schema.faults(map(json.loads, (folder / "barecpc.data").read_text().splitlines())))
    rows = table(barecpc("report"))
    check(f"{arch}: report by symbol, demangled", shares_wrong(rows))
    rows = table(barecpc("report", "--sort", "caller"))
    callers = [sum(n for row, n in rows.items() if row.startswith("ns::four()") and row.endswith(f"<- {caller}"))
               for caller in ("main", "start")]
    check(f"{arch}: report by caller", [] if min(callers) > 390 else [str(rows)])
    rows = table(barecpc("report", "--sort", "thread"))
    check(f"{arch}: report by thread", [] if len(rows) == 2 and min(rows.values()) > 990 else [str(rows)])
    compile_program(arch, "-g")
    done = barecpc("record", "--accel", "tcg", "-c", str(PERIOD), "-o", "with-lines", "./shares", "1", "1")
    rows = table(barecpc("report", "-i", "with-lines", "--sort", "line"))
    line = next(n for n, text in enumerate((ROOT / "tests/cli/programs/turns.h").read_text().splitlines(), 1)
                if ("dec" if arch == "x86_64" else "subs") in text)
    check(f"{arch}: report by line", [] if [row for row in rows if row.endswith(f"turns.h:{line}")] and max(rows.values()) > 990 else [str(rows)])
    done = barecpc("annotate", "-i", "with-lines")
    parts = [float(part) for part in re.findall(r"^ *(\d+\.\d+) \| +[0-9a-f]+:\t", done.stdout, re.M)]
    loop = re.search(r"^ +[\d.]+ \| +[0-9a-f]+:\t(dec|subs)\b", done.stdout, re.M)
    check(f"{arch}: annotate: the loop of the hottest function", [] if 99.9 < sum(parts) < 100.1 and loop and
          re.search(r"^# four of shares ", done.stdout, re.M) else [done.stderr, *done.stdout.splitlines()])
    check(f"{arch}: annotate: with its source", [] if "make_turns(long turns)" in done.stdout else done.stdout.splitlines())


def check_schema(speedscope, file):
    """Its own schema, by Debian's python3-jsonschema."""
    program = ("import json, sys, jsonschema\nschema, data = (json.load(open(name)) for name in sys.argv[1:])\n"
               "print(*[e.message for e in jsonschema.Draft7Validator(schema).iter_errors(data)], sep='\\n')")
    done = readers.run_python(folder, program, speedscope.schema, file)
    if done is None:
        skip("speedscope: its schema", "no python3-jsonschema: scripts/setup")
    else:
        check("speedscope: its schema", (done.stdout.strip() + done.stderr).splitlines())


def in_speedscope(files):
    """Each format of a profile that speedscope reads shows the functions' shares there, and its own format fits its schema."""
    speedscope = Speedscope(folder)
    if speedscope.missing or not shutil.which("chromium"):
        skip("speedscope reads the formats", speedscope.missing or "no chromium: scripts/setup --campaign")
        return
    check_schema(speedscope, files["speedscope"])
    for name, file in files.items():
        shares = speedscope.shares(file)
        if name == "perf-script":
            # A sample weighs as long as the time since the thread's last one, and the threads take turns.
            wrong = [] if sorted(SHARES, key=lambda function: shares.get(function, 0)) == list(SHARES) and set(SHARES) <= set(shares) else [""]
        else:
            wrong = [f"{function}: {shares.get(function)} %, not {10 * millions}" for function, millions in SHARES.items()
                     if not abs(shares.get(function, 0) - 10 * millions) < 1]
        check(f"{name}: speedscope shows the shares", wrong and [*wrong, str(shares)])


def in_stackvis(file, stacks):
    """stackvis finds the same stacks in the text of perf script.  Its names of C++ functions have no parameters."""
    missing = readers.unpack_npm(folder, "stackvis", "carrier")
    if missing or not shutil.which("node"):
        skip("perf-script: stackvis reads it", missing or "no node")
        return
    done = readers.run(folder, "node", "-e", f"""
        const {{reader}} = require("stackvis/lib/input-perf.js"), read = {{}};
        const warn = line => console.error(line);
        new reader(require("fs").createReadStream("{file}"), {{warn}})
            .on("stack", (frames, n) => read[frames.join(";")] = (read[frames.join(";")] || 0) + n)
            .on("end", () => console.log(JSON.stringify(read)));""")
    got = json.loads(done.stdout or "{}")
    want = {}
    for stack, count in stacks.items():
        program, *frames = stack.split(";")
        name = ";".join(f"{program}`{re.sub('[(].*', '', frame)}" for frame in frames)
        want[name] = want.get(name, 0) + int(count)
    check("perf-script: stackvis reads it, with each stack", [] if got == want and not done.stderr else [done.stderr, str(got), f"not {want}"])


def exports():
    def export(name):
        done = barecpc("export", "--to", name, "-o", name, "barecpc.data")
        if done.returncode:
            check(f"export --to {name}", [done.stderr])
        return folder / name

    total = sum(table(barecpc("report")).values())
    stacks = dict(line.rsplit(" ", 1) for line in export("folded").read_text().splitlines())
    check("folded: all samples", [] if sum(map(int, stacks.values())) == total else [str(stacks)])
    text = export("perf-script").read_text()
    heads = re.findall(r"^shares \d+/\d+ \d+\.\d{6}: +9973 PAPI_tot_ins:u: $", text, re.M)
    frames = re.findall(r"^\t +[0-9a-f]+ \S.* \(\S+shares\)$", text, re.M)
    check("perf-script: each sample and frame", [] if len(heads) == total and len(frames) + 2 * total == len(text.splitlines()) else
          [f"{len(heads)} samples, {len(frames)} frames", text[:400]])
    in_stackvis("perf-script", stacks)
    data = json.loads(export("speedscope").read_text())
    leaves = [data["shared"]["frames"][stack[-1]]["name"] for profile in data["profiles"] for stack in profile["samples"]]
    check("speedscope: every share, and two threads", shares_wrong({name: leaves.count(name) for name in SHARES}) +
          ([] if len(data["profiles"]) == 2 else ["other threads"]))
    file = export("pprof")
    tools = [shutil.which("pprof"), *glob.glob("/usr/lib/go*/pkg/tool/*/pprof")]
    tool = os.environ.get("PPROF") or next((tool for tool in tools if tool), None)
    if tool:
        done = subprocess.run([tool, "-top", "-sample_index=samples", file], capture_output=True, text=True)
        rows = {name: int(count) for count, name in re.findall(r"^ *(\d+) +[\d.]+% .*% +(\S.*)$", done.stdout, re.M)}
        rows = {name if "four" not in name else "ns::four()": count for name, count in rows.items()}
        check("pprof: every share", shares_wrong(rows) or ([done.stderr] if done.returncode else []))
    else:
        skip("pprof: every share", "pprof is not installed: scripts/setup --campaign")
    in_speedscope({name: folder / name for name in ("speedscope", "perf-script", "pprof", "folded")})


def lost_samples():
    """A machine whose overflow interrupts come late leaves a profile that says so, and status 125.

    The software PMU interrupts 400 instructions after an overflow: four of five periods have no sample.
    """
    subprocess.run([ROOT / "scripts" / "barecpc-cc", "--arch", "arm64", "-o", folder / "advance", ROOT / "tests/cli/programs/advance.c"], check=True)
    done = barecpc("record", "--accel", "tcg", "--append", "pmu=software,skid=400", "-e", "instructions", "-c", "100", "-o", "late",
                   "./advance", "10", "500")
    line = "record: advance: 40 of 50 periods have no sample: check this PMU by vpmu, or give a longer period by -c\n"
    check("periods without a sample: status 125, and why", [] if done.returncode == 125 and line in done.stderr and
          "host: late: 10 samples, 40 periods without a sample: see " in done.stderr else [f"status {done.returncode}", done.stderr])
    done = barecpc("report", "-i", "late")
    check("the report says so", [] if done.returncode == 0 and done.stdout.startswith(
        "# instructions:u, a sample each 100: 10 samples, periods without a sample: 40, 5000 events, LWPs: 1, sampled: 20.00%\n")
        else [done.stdout, done.stderr])


def lying_pmu(arch, model):
    """A PMU that loses each 500th overflow: no proof at boot takes so many.  From then on the program has no sample."""
    compile_program(arch)
    done = barecpc("record", "--accel", "tcg", "--qemu", "pmu", "--model", model + ",pmu-lie-lose=500", "-c", str(PERIOD), "-o", "lies",
                   "./shares", "1", "1")
    title = barecpc("report", "-i", "lies").stdout.split("\n")[0]
    found = re.search(r": (\d+) samples, periods without a sample: (\d+), (\d+) events, ", title)
    samples, missed, events = map(int, found.groups()) if found else (0, 0, 0)
    check(f"{arch}: lost overflows: status 125, and how many periods have no sample", [] if done.returncode == 125 and
          0 < samples < 500 < missed and samples + missed == events // PERIOD else [f"status {done.returncode}", done.stderr, title])


def refusals():
    def refused(name, line, *words):
        done = barecpc(*words)
        check(name, [] if done.returncode == 125 and re.fullmatch(f"host: {line}\n", done.stderr) else [done.stdout, done.stderr])

    refused("a function without samples", "nothing: no sample is there: see barecpc report", "annotate", "nothing")
    refused("no profile", "none: No such file or directory: name a file that `barecpc record` wrote", "report", "-i", "none")
    done = barecpc("record", "--accel", "tcg", "-e", "instuctions", "-o", "typo", "./shares", "1", "1")
    check("an unknown event", [] if (done.returncode, done.stderr) == (
        2, "record: instuctions: Unknown event: did you mean instructions?\n") else [done.stderr])
    done = barecpc("record", "--accel", "tcg", "--arch", "arm64", "-c", "1009", "-o", "spin", "spin")
    rows = table(barecpc("report", "-i", "spin"))
    check("a program of the image has names", [] if done.returncode == 77 and rows and max(rows, key=rows.get) != "[unknown]" else [str(rows)])
    head = {"schema": 1, "payload": "record", "event": "instructions", "privilege": "user", "period": 1009, "lost": 0, "events": 0,
            "lwps": 1, "folded": []}
    (folder / "rows").write_text(json.dumps(head | {"samples": 1}) + "\n")
    (folder / "none").write_text(json.dumps(head | {"samples": 0}) + "\n")
    refused("a profile without samples", "none: no samples: the period is longer than the run: .*", "report", "-i", "none")
    refused("a profile without addresses", "rows: no addresses of samples: .*", "report", "-i", "rows")
    (folder / "bad").write_text('{"schema":1,"payload":"record","addresses":[1]}\n{"schema":1,"payload":"barecpc","arch":1,"files":[]}\n')
    refused("a damaged profile", "bad: its profile is not as docs/records.md has it: .*", "report", "-i", "bad")
    refused("an export of it", "rows: no addresses of samples: .*", "export", "--to", "pprof", "rows")
    compile_program("x86_64", "-O1")
    refused("another program than the one that ran", ".*/shares: not the program that ran, by its build id: record again", "report")
    (folder / "shares").unlink()
    refused("a program that is gone", ".*/shares: No such file or directory: its symbols are needed: record again", "report")


with tempfile.TemporaryDirectory() as at:
    folder = pathlib.Path(at)
    for machine in ("arm64", "x86_64"):
        truth(machine)
    # The same program as at the time of the profile.
    compile_program("x86_64", "-Dfour=_ZN2ns4fourEv")
    exports()
    lost_samples()
    lying_pmu("arm64", "max")
    lying_pmu("x86_64", "qemu64,vendor=GenuineIntel,pmu=on,+pdcm,+full-width-write,pmu-version=5")
    compile_program("x86_64", "-Dfour=_ZN2ns4fourEv")
    refusals()
end()
