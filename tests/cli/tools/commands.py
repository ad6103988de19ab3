#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Commands of this machine print under `barecpc stat` what they print here, end with the same status, and count the same twice.

They are the rows `command-...` of tests/programs/list: ten of them, or with BARECPC_CAMPAIGN=yes all.  Words are names of rows.
"""
import configparser
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import tap
from host.emulator.qemu import HOST_ARCH

ROOT = pathlib.Path(__file__).resolve().parents[3]
FILES = {
    "numbers": "".join(f"{i * 7919 % 1009} w{i % 17}\n" for i in range(1, 301)),
    "numbers.bc": "scale=30; 4*a(1); e(1)\nquit\n",
    "names.json": '{"a":[1,2,{"b":"x"}],"c":null}\n',
    "square.c": "int square(int n)\n{\n\tint s = 0;\n\tfor (int i = 0; i < n; i++)\n\t\ts += n;\n\treturn s;\n}\n",
    "square.m4": "define(`sq',`eval($1*$1)')sq(12)\n",
    "square.s": "square: ret\n",
    "rules": "all: out\nout: numbers\n\tsort numbers > /tmp/commands.out; wc -l < /tmp/commands.out; rm -f /tmp/commands.out\n",
}


def counted(words, options, folder):
    """Status, output, diagnostics and count."""
    records = folder.with_suffix(".jsonl")
    records.unlink(missing_ok=True)
    done = subprocess.run([ROOT / "scripts" / "barecpc", "stat", "--accel", "tcg", "--qemu", "pmu", "--mem", "1G", "--host-timeout", "900", "--silence", "0",
                           "-e", "instructions", "--results", records, *options, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    rows = [json.loads(line) for line in records.read_text().splitlines()] if records.exists() else []
    return done.returncode, done.stdout, done.stderr, next((row["count"]["net"] for row in rows if row.get("count")), None)


def one(name, part, folder):
    words = shlex.split(part["run"])
    needs = [words[0], *part.get("with", "").split()]
    if lacks := [need for need in needs if not shutil.which(need) and not os.path.exists(need)]:
        tap.skip(name, f"this machine has no {lacks[0]}")
        return
    native = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, env={"PATH": os.environ["PATH"]})
    files = [file for file in FILES if file in part["run"]] + (["numbers"] if "rules" in part["run"] else [])
    options = [word for file in [*files, *part.get("with", "").split(), *(["rm"] if "make" in name else [])] for word in ("--with", file)]
    status, text, said, count = counted(words, options, folder)
    same = (status, text) == (native.returncode, native.stdout)
    tap.check(f"{name}: as here", [] if same else [f"status {status}, here {native.returncode}", *map(repr, said.splitlines()[-6:]), repr(text[-200:])])
    again = counted(words, options, folder)
    tap.check(f"{name}: the same twice", [] if count and again[3] == count and again[1] == text else [f"{count}, then {again[3]}"])


def main():
    parts = configparser.ConfigParser(interpolation=None, delimiters="=", comment_prefixes="#", inline_comment_prefixes=None)
    parts.read(ROOT / "tests" / "programs" / "list")
    names = [name for name in parts.sections() if name.startswith("command-") and (name in sys.argv[1:] if sys.argv[1:] else
             parts[name].get("check") or os.environ.get("BARECPC_CAMPAIGN") == "yes")]
    if HOST_ARCH != "x86_64":
        tap.skip("commands", "the test needs x86-64: its rows have the paths of that machine")
        names = []
    with tempfile.TemporaryDirectory(prefix="commands.", dir=ROOT / "build") as folder:
        for name, text in FILES.items():
            (pathlib.Path(folder) / name).write_text(text)
        for name in names:
            one(name.removeprefix("command-"), parts[name], pathlib.Path(folder))
    tap.end()


main()
