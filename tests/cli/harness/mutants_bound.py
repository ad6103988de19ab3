#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""tests/mutants ends an image that a change made loop or wait: after ten times what it takes without the change."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import time

from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]
loader = importlib.machinery.SourceFileLoader("mutants", str(ROOT / "tests" / "mutants"))
mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
sys.modules["mutants"] = mutants  # dataclasses look up their module there
loader.exec_module(mutants)

def tried(top, on_change, line="\treturn first(1);", path="kern/mm/file.c"):
    """The verdict on a change, if scripts/barecpc does `on_change` with it, and how long that took."""
    files = {path: f"int first(int);\nint second(void)\n{{\n{line}\n}}\n", "tests/list": "", "Makefile": "%:\n\t@:\n",
             "scripts/mkcpio": "#!/bin/sh\n", "scripts/barecpc": f"#!/bin/sh\ngrep -q 'first(1)' {path} || {{ {on_change}; }}\n"}
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
        (top / name).chmod(0o755)
    tree = mutants.Tree(top, top.parent)
    began = time.monotonic()
    return tree.try_out(mutants.Mutant(path, 4, "drop", line, line.replace("1", "2"))), time.monotonic() - began


mutants.CALM_LEAST = 0.1
with tempfile.TemporaryDirectory() as name:
    tree = pathlib.Path(name) / "tree"
    tree.mkdir()
    killed = ("killed", "boot arm64")
    verdict, took = tried(tree, "sleep 100")
    equal("an image that waits for ever is killed", verdict, killed)
    check("after ten times the time of the image without the change", [] if 1 < took < 60 else [f"{took} s"])
    equal("an image that fails is killed", tried(tree, "exit 1")[0], killed)
    equal("an image that passes survives", tried(tree, "exit 0")[0], ("survived", ""))
    equal("a barrier of page tables is equal by a proof", tried(tree, "exit 0", "\tdsb(first(1));", "arch/arm64/mm/mmu.c")[0][0], "equal")
end()
