"""The version of barecpc: the date and the id of a commit."""

import subprocess

from qemu import ROOT

ARCHIVED = "$Format:%cs %h$"  # git archive replaces it, because .gitattributes names this file


def version():
    """The commit, with a plus if files have changed since; of an archive the commit that it was made of."""
    if "$" not in ARCHIVED:
        return f"barecpc {ARCHIVED}"
    git = ["git", "-C", str(ROOT)]
    try:
        commit = subprocess.run([*git, "log", "-1", "--format=%cs %h"], capture_output=True, text=True, check=True).stdout.strip()
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD"], capture_output=True).returncode == 1
    except (OSError, subprocess.CalledProcessError):
        return "barecpc of an unknown version: no git here"
    return f"barecpc {commit}{'+' if changed else ''}"


if __name__ == "__main__":
    print(version())
