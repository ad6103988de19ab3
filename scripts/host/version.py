"""The version of barecpc: its number, and the date and the id of a commit."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARCHIVED = "$Format:%cs %h$"  # git archive replaces it, because .gitattributes names this file


def version():
    """The number and the commit, with a plus if files have changed since; of an archive the commit that it was made of."""
    name = f"barecpc {(ROOT / 'VERSION').read_text().strip()},"
    if "$" not in ARCHIVED:
        return f"{name} {ARCHIVED}"
    git = ["git", "-C", str(ROOT)]
    try:
        commit = subprocess.run([*git, "log", "-1", "--format=%cs %h"], capture_output=True, text=True, check=True).stdout.strip()
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD"], capture_output=True).returncode == 1
    except (OSError, subprocess.CalledProcessError):
        return f"{name} of an unknown commit: no git here"
    return f"{name} {commit}{'+' if changed else ''}"


if __name__ == "__main__":
    print(version())
