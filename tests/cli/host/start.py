#!/usr/bin/env python3
"""A command of the host starts fast: it loads the modules that it needs, and asks an emulator once what it can do."""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]
BARECPC = ROOT / "scripts" / "barecpc"
ENV = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {"BARECPC_BUILD": "no"}


def cpu(*words):
    """The least CPU time of five runs, in seconds: of the command and of what it starts."""
    def once():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return min(once() for _ in range(5))


def questions(folder):
    """How often three runs ask an emulator for its machines.  Before the third, the emulator is another file."""
    emulator, log, image = folder / "emulator", folder / "log", folder / "image"
    emulator.write_text(f"""#!/bin/sh
[ "$4" != help ] || echo asked >>'{log}'
exec '{ROOT}/tests/cli/lib/fake-qemu' "$@"
""")
    emulator.chmod(0o755)
    image.write_text("image")
    asked = []
    for _ in range(3):
        done = subprocess.run([BARECPC, "run", "--arch", "arm64", "--accel", "tcg", "--image", image, "--qemu", emulator], env=ENV | {"FAKE": "good"},
                              stdin=subprocess.DEVNULL, capture_output=True)
        asked.append((done.returncode, log.read_text().count("asked")))
        if len(asked) == 2:
            os.utime(emulator, (1, 1))
    return asked


least, version = cpu("python3", "-c", "import argparse, pathlib, re, subprocess, tempfile, traceback"), cpu(BARECPC, "--version")
check("--version takes at most three times the CPU time of what Python loads for each command", [] if version <= 3 * least else [f"{version:.3f} s, Python {least:.3f} s"])
with tempfile.TemporaryDirectory() as name:
    equal("an emulator is asked once what it can do, and again if it changes", questions(pathlib.Path(name)), [(0, 1), (0, 1), (0, 2)])
end()
