#!/usr/bin/env python3
"""Ctrl-C during `barecpc stat -r N` ends after the current run, and the runs that ended are counted.  A second one ends at once."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Each run writes a line.  With an argument it never ends.
SOURCE = """#include <unistd.h>
int main(int argc, char **argv)
{
	write(1, "run\\n", 4);
	for (volatile long i = 0; i < 1000000 || argc > 1; i += argc == 1)
		;
	return argv[0] == NULL;
}
"""


def interrupted(words, folder, signals=1, lines=1):
    """Start stat, wait for lines of the program, and interrupt stat, and QEMU too, as a terminal does.

    Returns the status, the lines of the program, and the text of stat.
    """
    errors = folder / "errors"
    with open(errors, "w") as file, \
            subprocess.Popen([ROOT / "scripts/barecpc", "stat", "--accel", "tcg", *words], cwd=folder, stdin=subprocess.DEVNULL,
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


with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    for machine in ("arm64", "x86_64"):
        subprocess.run([ROOT / "scripts/barecpc-cc", "--arch", machine, "-O1", "-x", "c", "-o", work / machine, "-"], input=SOURCE, text=True, check=True)
        the_runs_that_ended(machine, work)
        the_second(machine, work)
        a_group_without_runs(machine, work)
end()
