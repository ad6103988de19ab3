"""Runs barecpc and the programs that read its exports, for the tests of `barecpc export`."""

import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
BARECPC = ROOT / "scripts" / "barecpc"
PYTHON = "/usr/bin/python3"  # Debian's packages are for this one
CAMPAIGN = os.environ.get("BARECPC_CAMPAIGN") == "yes"


def run(folder, *words):
    """The finished process, with its output as text."""
    return subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def run_python(folder, program, *files):
    """A program that imports Debian's modules; None if one of them is not installed."""
    done = run(folder, PYTHON, "-c", program, *files)
    return None if "No module named" in done.stderr else done


def unpack_npm(folder, *names):
    """Unpack npm packages to node_modules in the folder.  Return why they are missing, or nothing."""
    if not CAMPAIGN:
        return "a campaign: it is fetched"
    if not shutil.which("npm"):
        return "needs npm"
    for name in names:
        target = folder / "node_modules" / name
        target.mkdir(parents=True)
        done = run(folder, "npm", "pack", "--silent", name)
        if done.returncode:
            return f"npm cannot fetch {name}"
        subprocess.run(["tar", "-xzf", folder / done.stdout.split()[-1], "--strip-components=1", "-C", target], check=True)
    return ""
