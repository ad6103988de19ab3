#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A command of the host starts fast: it loads the modules that it needs, and asks an emulator once what it can do."""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile

from host import building
from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]
BARECPC = ROOT / "scripts" / "barecpc"
KEPT = ROOT / "build" / "sandboxes"
RUN = [BARECPC, "run", "--arch", "arm64", "--accel", "tcg", "--qemu", "true", "--", "dot"]
ENV = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {"BARECPC_BUILD": "no"}


def cpu(*words):
    """The least CPU time of five runs, in seconds: of the command and of what it starts."""
    def once():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return min(once() for _ in range(5))


def loaded():
    """The modules that a run loads until its emulator starts."""
    done = subprocess.run(RUN, env=ENV | {"PYTHONPROFILEIMPORTTIME": "1"}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def questions(folder):
    """How often runs ask an emulator for its machines, after each change of `changes`."""
    emulator, log, image = folder / "emulator", folder / "log", folder / "image"
    emulator.write_text(f"""#!/bin/sh
[ "$4" != help ] || echo asked >>'{log}'
exec '{ROOT}/tests/cli/lib/fake-qemu' "$@"
""")
    emulator.chmod(0o755)
    image.write_text("image")

    def of_another_host():
        KEPT.write_text("".join(re.sub(r" \S+ (?=/)", " elsewhere ", line) if str(folder) in line else line for line in KEPT.open()))

    changes = {"": lambda: None, "the same": lambda: None, "another file": lambda: os.utime(emulator, (1, 1)), "another host": of_another_host}
    asked = {}
    for change, make in changes.items():
        make()
        done = subprocess.run([BARECPC, "run", "--arch", "arm64", "--accel", "tcg", "--image", image, "--qemu", "./emulator"], env=ENV | {"FAKE": "good"},
                              cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
        asked[change] = (done.returncode, log.read_text().count("asked"))
    return asked


def counted(changes, log, command, **env):
    """How many lines are in the log after each change and a run."""
    called = {}
    for change, make in changes.items():
        make()
        subprocess.run([command, *RUN[1:]], env=ENV | env, stdin=subprocess.DEVNULL, capture_output=True)
        called[change] = len(log.read_text().splitlines())
    return called


def paths(tree):
    """How often runs ask scripts/qemu-pmu where the emulator is, after each change of `changes`, in the tree of builds()."""
    emulator, patch, script = tree / "emulator", tree / "qemu/hooks", tree / "scripts/qemu-pmu"
    patch.parent.mkdir()
    patch.write_text("")
    emulator.symlink_to("/bin/true")
    script.write_text(f"#!/bin/sh\necho asked >>'{tree}/asked'\necho '{emulator}'\n")
    RUN[RUN.index("true")] = "pmu"
    return counted({"": lambda: None, "the same": lambda: None, "a patch": lambda: os.utime(patch, (1, 1)), "the script": lambda: os.utime(script, (1, 1)),
                    "no emulator": emulator.unlink}, tree / "asked", tree / "scripts/barecpc")


def builds(tree):
    """How often runs call make, after each change of `changes`, in a tree with a Makefile of its own."""
    shutil.copytree(ROOT / "scripts", tree / "scripts")
    for name in building.SOURCES:
        if not (tree / name).exists():
            (tree / name).mkdir(parents=True) if "." not in name and name.islower() else (tree / name).write_text("")
    image, source = tree / "build/arm64/Image", tree / "tests/opcost/main.c"
    source.write_text("")
    (tree / "Makefile").write_text("all:\n\t@echo made >>log; mkdir -p build/arm64; cd build/arm64; touch Image BOOTAA64.EFI vendors\n")
    changes = {"": lambda: None, "the same": lambda: None, "a source": lambda: os.utime(source, (1, 1)), "a new one": lambda: source.with_name("new.c").write_text(""),
               "the image": lambda: os.utime(image, (1, 1)), "no image": image.unlink, "again the same": lambda: None}
    return counted(changes, tree / "log", tree / "scripts/barecpc", BARECPC_BUILD="")


def kept_of(folder):
    """The paths of a folder that are kept: those of this host."""
    return [line.split(" ", 3)[-1] for line in KEPT.read_text().splitlines() if f" {folder}" in line and " elsewhere " not in line]


least, version = cpu("python3", "-c", "import argparse, pathlib, re, subprocess, tempfile, traceback"), cpu(BARECPC, "--version")
check("--version takes at most three times the CPU time of what Python loads for each command", [] if version <= 3 * least else [f"{version:.3f} s, Python {least:.3f} s"])
least, start = cpu("python3", "-S", "-c", "import argparse, json, pathlib, re, subprocess, tempfile"), cpu(*RUN)
check("a run takes at most 2.5 times the CPU time of what Python loads for it, until QEMU starts", [] if start <= 2.5 * least else
      [f"{start:.3f} s, Python {least:.3f} s"])
equal("it loads no slow module that it does not need", loaded() & {"site", "hashlib", "html", "traceback", "dataclasses", "platform"}, set())
with tempfile.TemporaryDirectory() as name:
    equal("make is called if a source or what it made has changed since, and not otherwise", builds(pathlib.Path(name).resolve() / "tree"),
          {"": 1, "the same": 1, "a source": 2, "a new one": 3, "the image": 4, "no image": 5, "again the same": 5})
    equal("scripts/qemu-pmu is asked for the emulator if that is gone, or what it is made of has changed, and not otherwise",
          paths(pathlib.Path(name).resolve() / "tree"), {"": 1, "the same": 1, "a patch": 2, "the script": 3, "no emulator": 4})
with tempfile.TemporaryDirectory() as name:
    equal("an emulator is asked once what it can do, and again if it or the host changes", questions(pathlib.Path(name).resolve()),
          {"": (0, 1), "the same": (0, 1), "another file": (0, 2), "another host": (0, 3)})
    equal("one file of a path is kept, by its whole path", kept_of(pathlib.Path(name).resolve()), [f"{pathlib.Path(name).resolve()}/emulator"])
with tempfile.TemporaryDirectory() as other:
    questions(pathlib.Path(other).resolve())
    equal("a file that is gone is not kept", kept_of(pathlib.Path(name).resolve()), [])
end()
