#!/usr/bin/env -S PYTHONPATH=tests/cli/lib python3 -B
"""`barecpc batch`: the records of many programs are those of a run of each, and a line that fails loses no other."""
import pathlib
import subprocess
import tempfile
import time

from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]
BARECPC = ROOT / "scripts" / "barecpc"
SOURCE = '#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char **a) { int s = atoi(a[1]); for (volatile int i = 0; i < s; i++); printf("%d\\n", s); return s % 2; }\n'


def barecpc(*words):
    return subprocess.run([BARECPC, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "turns.c").write_text(SOURCE)
    words, own = {}, {}
    for arch in ("arm64", "x86_64"):
        subprocess.run([ROOT / "scripts" / "barecpc-cc", "--arch", arch, "-o", folder / f"{arch}.file", folder / "turns.c"], check=True)
        (folder / arch).symlink_to(f"{arch}.file")
        for turns in (10, 1001, 3000):
            words[arch, turns] = ["--accel=tcg", "-e", "PAPI_tot_ins:u", str(folder / arch), str(turns), "a#b", "--results=c"]
    lines = folder / "lines"
    lines.write_text("# programs\n\n" + "\n".join(f"'{one[0]}' {' '.join(one[1:])} # don't" for one in words.values()) + "\n")
    done = barecpc("batch", "-j", "2", "--results", folder / "all", lines)
    for key in (("arm64", 1001), ("x86_64", 3000)):
        barecpc("stat", "--results", folder / "own", *words[key])
        own[key] = (folder / "own").read_text()
    found = dict(zip(words, (folder / "all").read_text().splitlines(keepends=True)))
    equal("a record for each line, with the name of the link", [f'"label":"{arch}"' in line for (arch, _), line in found.items()], [True] * len(words))
    equal("the records are those of a run of each, byte for byte", {key: found[key] for key in own}, own)
    equal("what the programs print comes in the order of the lines", done.stdout, "".join(f"{turns}\n" for _, turns in words))
    check("each line that fails is named, with its status", [line for line in ("lines:4: status 1", "lines:7: status 1", "6 programs, 2 failed")
                                                            if line not in done.stderr])
    equal("the first status that is not 0 is that of all", done.returncode, 1)

    wrong = {"a 'b": "No closing quotation", "--results x y": "--results", "--res=x y": "--results", "# \udcff": "0 programs"}
    for text, what in wrong.items():
        lines.write_text(text, errors="surrogateescape")
        done = barecpc("batch", lines)
        check(f"{text!r}: refused in one line", [] if done.returncode == 125 and what in done.stderr and done.stderr.count("\n") == 1 else [done.stderr])
    lines.write_text("-e PAPI_tot_ins --no-such-option x\n" + " ".join(words["arm64", 10]) + "\n")
    done = barecpc("batch", "--results", folder / "all", lines)
    equal("a line with a wrong option, and the next", (done.returncode, done.stdout, (folder / "all").read_text()), (125, "10\n", found["arm64", 10]))
    lines.write_text("--accel=tcg sh -c 'echo /etc/passwd >&2; exit 1'\n--accel=tcg sh -c 'exit 1'\n")
    equal("a line that fails is offered no file that another one missed", barecpc("batch", "-j", "1", lines).stderr.count("give --with"), 1)
    sleeper = folder / "sleeper"
    sleeper.write_text(f"#!/bin/sh\ntest $4 = help || {{ echo $$ >{folder}/pid; exec sleep 1000; }}\n")
    sleeper.chmod(0o755)
    lines.write_text(f"--accel=tcg --qemu={sleeper} {folder}/arm64")
    running = subprocess.Popen([BARECPC, "batch", lines], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (folder / "pid").exists() or not (folder / "pid").read_text():
        time.sleep(0.1)
    running.terminate()
    equal("a signal ends the machines, too", (running.wait(), pathlib.Path(f"/proc/{(folder / 'pid').read_text().strip()}").exists()), (143, False))
end()
