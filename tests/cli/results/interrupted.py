#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Ctrl-C during `barecpc stat` and `record` keeps what was counted; with -r N, the runs that ended.  A second one ends at once."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Each run writes a line.  With an argument it never ends, or, with two, after the first run.
SOURCE = """#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc > 2 && open("/tmp/ran", O_CREAT | O_EXCL, 0600) != -1)
		argc = 1;
	write(1, "run\\n", 4);
	for (volatile long i = 0; i < 1000000 || argc > 1; i += argc == 1)
		;
	return argv[0] == NULL;
}
"""


def interrupted(words, folder, signals=1, lines=1, tool="stat"):
    """Start stat or record, wait for lines of the program, and interrupt stat, and QEMU too, as a terminal does.

    Returns the status, the lines of the program, and the text of stat.
    """
    errors = folder / "errors"
    with open(errors, "w") as file, \
            subprocess.Popen([ROOT / "scripts/barecpc", tool, "--accel", "tcg", *words], cwd=folder, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=file, text=True, start_new_session=True) as stat:
        begin = [stat.stdout.readline() for _ in range(lines)]
        for _ in range(signals):
            os.killpg(stat.pid, signal.SIGINT)
            while signals > 1 and "Ctrl-C again" not in errors.read_text():
                time.sleep(0.01)
        out = stat.stdout.read()
    return stat.returncode, "".join(begin) + out, errors.read_text()


def the_runs_that_ended(arch, folder):
    options = ["-r", "1000", "-e", "instructions,cycles", "--results", "records", f"./{arch}"]
    status, out, text = interrupted(options, folder, lines=3)
    runs = out.count("run\n")
    said = re.search(r"\((\d+) runs\):", text)
    equal(f"{arch}: the runs that ended are counted", (status, said and int(said[1])), (-signal.SIGINT, runs))
    check(f"{arch}: it is marked", [] if f"# stat: interrupted after {runs} runs, which are counted\n" in text else text.splitlines())
    records = [json.loads(line) for line in (folder / "records").read_text().splitlines()]
    equal(f"{arch}: the records have these runs", [(r["runs"], len(set(r["count"]["measured"]["raw"])), len(r["count"]["measured"]["raw"])) for r in records],
          [(runs, 1, runs)] * 2)


def the_second(arch, folder):
    status, out, text = interrupted(["-r", "2", f"./{arch}", "for ever"], folder, 2)
    equal(f"{arch}: the second one ends at once", (status, out, "counted is lost" in text, "Performance" in text),
          (-signal.SIGINT, "run\n", True, False))


def a_group_without_runs(arch, folder):
    """With more events than fit at once, the events of the runs that were not made are not counted."""
    events = ",".join(["instructions:u", "cycles:u"] * 10)
    _, out, text = interrupted(["-r", "300", "-e", events, f"./{arch}"], folder)
    runs = out.count("run\n")
    lines = text.splitlines()
    wanted = runs < 300 and "# stat: interrupted before its runs" in lines and sum("<not counted>" in line for line in lines) >= 2
    check(f"{arch}: a group without runs says so", [] if wanted else [f"{runs} runs", *lines])


def a_single_run(arch, folder):
    """The program never ends, so each count is of a part of its run."""
    status, out, text = interrupted(["-e", "instructions:u", "--results", "records", f"./{arch}", "for ever"], folder)
    equal(f"{arch}: a single run ends", (status, out), (-signal.SIGINT, "run\n"))
    wanted = ("# stat: interrupted: the counts end there: instructions:u\n", f"stat: {arch}: ended by Ctrl-C\n")
    check(f"{arch}: it says so", [] if all(line in text for line in wanted) else text.splitlines())
    records = [json.loads(line) for line in (folder / "records").read_text().splitlines()]
    printed = [int(count.replace(",", "")) for count in re.findall(r"^ *([0-9,]+) +instructions:u", text, re.M)]
    equal(f"{arch}: the record has the count", [r["count"]["measured"]["raw"] for r in records], [printed])
    equal(f"{arch}: the record is marked", [(r["interrupted"], r["looks"] > 0) for r in records], [(True, True)])
    check(f"{arch}: it counted", [] if printed and printed[0] > 10 ** 6 else text.splitlines())


def a_second_group(arch, folder):
    """The first group has a whole run, Ctrl-C cuts that of the second, and a third has none."""
    events = ",".join(["instructions:u"] * 6 + ["branches:u"] * 6 + ["cycles:u"] * 9)
    _, _, text = interrupted(["-e", events, "--results", "records", f"./{arch}", "for ever", "then"], folder, lines=2)
    records = [json.loads(line) for line in (folder / "records").read_text().splitlines()]
    kinds = [(r["status"], r.get("interrupted", False)) for r in records]
    order = list(dict.fromkeys(kinds))
    check(f"{arch}: only the counts of the group that was cut are marked", [] if order == [("counted", False), ("counted", True), ("not counted", False)] and
          kinds == sorted(kinds, key=order.index) else [*map(str, kinds), *text.splitlines()])
    names = [f"{r['event']}:u" for r in records if r.get("interrupted")]
    said = f"# stat: interrupted: the counts end there: {', '.join(names)}"
    check(f"{arch}: a line names them", [] if said in text.splitlines() else [said, *text.splitlines()])


def the_kernels_counts(arch, folder):
    """A run of more than 200 ms has looks for Ctrl-C, which the counts of the kernel include; with -r 2 it has none."""
    (folder / "slow.c").write_text("#include <unistd.h>\nint main(void) { usleep(500000); return 0; }\n")
    subprocess.run([ROOT / "scripts/barecpc-cc", "--arch", arch, "-o", folder / "slow", folder / "slow.c"], check=True)
    said = {}
    for runs in ("1", "2"):
        done = subprocess.run([ROOT / "scripts/barecpc", "stat", "--accel", "tcg", "-r", runs, "-e", "instructions:k,instructions:u", "./slow"], cwd=folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        said[runs] = [line for line in done.stderr.splitlines() if "looks for Ctrl-C" in line]
    equal(f"{arch}: the looks for Ctrl-C in a run are said", said,
          {"1": ["# stat: context switches and the kernel's counts include 2 looks for Ctrl-C, each 200 ms: -r 2 makes none"], "2": []})


def a_profile(arch, folder):
    status, out, text = interrupted(["-c", "10007", f"./{arch}", "for ever"], folder, tool="record")
    report = subprocess.run([ROOT / "scripts/barecpc", "report"], cwd=folder, capture_output=True, text=True)
    equal(f"{arch}: record ends", (status, report.returncode), (-signal.SIGINT, 0))
    samples = re.search(r": (\d+) samples", text)
    profile = [json.loads(line) for line in (folder / "barecpc.data").read_text().splitlines()]
    equal(f"{arch}: its records are marked", {r["interrupted"] for r in profile if r["payload"] == "record"}, {True})
    check(f"{arch}: record says so", [] if re.search(r" samples, up to Ctrl-C: see barecpc report$", text, re.M) else text.splitlines())
    check(f"{arch}: the profile has the samples up to then", [] if samples and int(samples[1]) > 100 and "main" in report.stdout else
          [*text.splitlines(), *report.stdout.splitlines()])


with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    for machine in ("arm64", "x86_64"):
        subprocess.run([ROOT / "scripts/barecpc-cc", "--arch", machine, "-O1", "-x", "c", "-o", work / machine, "-"], input=SOURCE, text=True, check=True)
        the_runs_that_ended(machine, work)
        the_second(machine, work)
        a_single_run(machine, work)
        a_profile(machine, work)
        a_group_without_runs(machine, work)
        a_second_group(machine, work)
        the_kernels_counts(machine, work)
end()
