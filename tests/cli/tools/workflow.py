#!/usr/bin/env -S PYTHONPATH=tests/cli/lib /usr/bin/python3 -B
"""examples/ci: each step of GitHub's action, of GitLab's job and of make is run as the forge would run it.

One instruction more must be named and fail at a limit of 0%.  A program that did not change must pass, in another folder, by
another user's environment and on another day: 50 times as a campaign.  Packages are not installed here.

    workflow.py FOLDER    as root of a fresh Debian (`packages`): each forge installs the packages of FOLDER, and users are real
"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import yaml
from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]
CI = "examples/ci"
NEVER = "no step runs this"
PACKAGES = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else None
CACHE = subprocess.run([ROOT / "scripts" / "setup", "--cache"], check=True, capture_output=True, text=True).stdout.strip()


def sh(tree, text, user=0, **more):
    """Run lines of shell as a forge does, with the commands of `fake` before all others; with packages as this user."""
    env = {"PATH": f"{fake}:{os.environ['PATH']}", "HOME": str(tree), "LC_ALL": "C.UTF-8", **more}
    who = {}
    if PACKAGES:
        subprocess.run(["chown", "-R", f"{user}:{user}", tree], check=True)
        who = {"user": user, "group": user, "extra_groups": []}
    else:
        env |= {"PATH": f"{fake}:{ROOT}/scripts:{os.environ['PATH']}", "XDG_CACHE_HOME": os.path.dirname(CACHE), "BARECPC_BUILD": "no"}
    return subprocess.run(["sh", "-e", "-c", text], cwd=tree, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, **who)


def git(tree, *words):
    return subprocess.run(["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "safe.directory=*", *words], check=True, capture_output=True,
                          text=True).stdout.strip()


def fresh():
    """Take away what a forge's steps install."""
    if PACKAGES:
        subprocess.run(["apt-get", "-qq", "-y", "purge", "barecpc", "barecpc-qemu", "gcc", "musl-dev"], check=True)


def keep(tree, key):
    """Keep the records of the base under a key, as actions/cache@v4 does before the job.  Returns what that does after it."""
    kept, counts = tree.parent / "kept" / key, tree / "counts"
    if kept.is_dir():
        shutil.copytree(kept, counts, dirs_exist_ok=True)
        return lambda: None
    return lambda: [kept.mkdir(parents=True), *(shutil.copy(file, kept) for file in counts.glob("base-*"))]


def filled(text, values):
    for name, value in values.items():
        text = text.replace("${{ " + name + " }}", value)
    assert "${{" not in text, text
    return text


def github(tree, base, limit, **more):
    """The steps of github.yml in a fresh checkout: ours are those of action.yml, and what `gh` posts."""
    steps = yaml.safe_load((tree / CI / "github.yml").read_text())["jobs"]["counts"]["steps"]
    context = {"github.event.pull_request.base.sha": base, "github.event.pull_request.number": "7", "github.token": "none",
               "github.action_path": f"{tree}/{CI}"}
    action = yaml.safe_load((tree / CI / "action.yml").read_text())
    shutil.rmtree(tree / "counts", ignore_errors=True)
    failed, ran, at_end, output = None, [], [], tree / "output"
    for step in steps:
        if step.get("uses") == f"./{CI}":
            inputs = {f"inputs.{name}": one.get("default", NEVER) for name, one in action["inputs"].items()}
            inputs |= {f"inputs.{name}": filled(value, context) for name, value in (step["with"] | {"limit": limit, "build": f"make -C {CI} NOTE='two words'"}).items()}
            ours = action["runs"]["steps"]
        else:
            inputs, ours = {}, [step] if "run" in step else []
        for one in ours:
            if failed and not one.get("if", "").startswith("always()"):
                continue
            if "uses" in one:
                at_end.append(keep(tree, filled(one["with"]["key"], context | inputs)))
                continue
            output.write_text("")
            done = sh(tree, filled(one["run"], context | inputs), 1001, GITHUB_STEP_SUMMARY=str(tree / "summary"), GITHUB_OUTPUT=str(output),
                      **{name: filled(value, context | inputs) for name, value in one.get("env", {}).items()}, **more)
            context |= {f"steps.{one.get('id')}.outputs.{name}": value for name, value in re.findall("(.*)=(.*)", output.read_text())}
            ran.append(done)
            failed = failed or (done if done.returncode else None)
    for act in at_end if not failed else []:
        act()
    return failed, (tree / "posted").read_text() if (tree / "posted").exists() else "".join(done.stderr for done in ran)


def gitlab(tree, base, limit):
    job = yaml.safe_load((tree / CI / "gitlab.yml").read_text())["counts"]
    done = sh(tree, "\n".join(line.replace("0.5%", limit) for line in job["script"]), CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    return done if done.returncode else None, done.stdout + done.stderr


def by_make(tree, base, limit):
    if PACKAGES:
        typed = re.search(r"^ *\$ (apt-get install .*)", (ROOT / "docs" / "ci.md").read_text(), re.M)[1]
        subprocess.run(typed, shell=True, cwd=PACKAGES, check=True)
    done = sh(tree, f"make --no-print-directory -C {CI} counts BASE={base} LIMIT={limit}", 1000)
    return done if done.returncode else None, done.stdout + done.stderr


def repository(tree):
    """A repository with the example.  Returns its first commit."""
    shutil.copytree(ROOT / CI, tree / CI)
    if PACKAGES:
        shutil.copytree(PACKAGES, tree / "packages")
    (tree / ".gitignore").write_text("counts/\nprimes\npackages/\n")
    git(tree.parent, "init", "--quiet", tree)
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "-m", "base")
    return git(tree, "rev-parse", "HEAD")


def rounds(folder, number):
    """Which of `number` copies of the tree, each with another name, user and day, do not have the counts of the first."""
    first, wrong = folder / "first", []
    base = repository(first)
    shutil.rmtree(first / "packages", ignore_errors=True)
    counted = sh(first, f"make --no-print-directory -C {CI} counts BASE={base} LIMIT=0%", 1000)
    draw = random.Random(git(ROOT, "rev-parse", "HEAD"))
    for turn in range(number):
        copy = folder / "".join(draw.choices("abcdefgh/", k=draw.randrange(1, 60))).strip("/")
        copy = copy / f"tree{turn}"
        shutil.copytree(first, copy, ignore=shutil.ignore_patterns("primes"))
        user = "u" * draw.randrange(1, 30)
        day = f"{draw.randrange(2025, 2035)}-0{draw.randrange(1, 10)}-1{draw.randrange(10)} 12:00:00"
        done = sh(copy, f"faketime '{day}' make -C {CI} -B primes && make --no-print-directory -C {CI} counts BASE={base} LIMIT=0%",
                  2000 + 7 * turn, USER=user, LOGNAME=user, MAIL=f"/var/mail/{user}")
        if done.returncode or (copy / "counts/head.jsonl").read_bytes() != (first / "counts/head.jsonl").read_bytes():
            wrong.append((str(copy), done.stdout + done.stderr))
        shutil.rmtree(copy)
    return wrong or ([] if counted.returncode == 0 else [counted.stderr])


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name).resolve()
    folder.chmod(0o755)  # for all users
    fake = folder / "fake"
    fake.mkdir()
    for command, text in (("gh", 'while [ "$1" != --body-file ]; do shift; done; cat "$2" >posted'), ("newer-cc", "echo newer"),
                          *(() if PACKAGES else (("sudo", 'exec "$@"'), ("apt-get", ":")))):
        (fake / command).write_text(f"#!/bin/sh\n{text}\n")
        (fake / command).chmod(0o755)
    for way in (github, gitlab, by_make):
        fresh()
        tree = folder / way.__name__
        base = repository(tree)
        source = tree / CI / "primes.c"
        (tree / "README").write_text("no program has changed\n")
        git(tree, "add", ".")
        git(tree, "commit", "--quiet", "-m", "a text")
        failed, shown = way(tree, base, "0%")
        check(f"{way.__name__}: a change of a text passes", [failed.stderr] if failed else [])
        source.write_text(source.read_text().replace("\treturn 0;", '\t__asm__ volatile("nop");\n\treturn 0;'))
        git(tree, "commit", "--quiet", "-a", "-m", "one instruction more")
        failed, shown = way(tree, base, "0%")
        check(f"{way.__name__}: one instruction more fails", [] if failed and failed.returncode in (1, 2) else [shown])
        check(f"{way.__name__}: and the table names the program, and the one instruction", [] if "primes" in shown and "`+1`" in shown else [shown])
        failed, shown = way(tree, base, "0.5%")
        check(f"{way.__name__}: it passes at a limit of 0.5%", [failed.stderr] if failed else [])
        equal(f"{way.__name__}: the base was counted once", len(list((tree / "counts").glob("base-*.jsonl"))), 1)
        check(f"{way.__name__}: numbers for two services", [] if all((tree / "counts" / one).stat().st_size for one in ("benchmark.json", "bencher.json"))
              else ["empty"])
    tree = folder / "github"
    equal("github: a base is kept under one key", len(list((folder / "kept").iterdir())), 1)
    failed, _ = github(tree, git(tree, "rev-parse", "HEAD~2"), "100%", CC="newer-cc")
    equal("github: and under another one of another compiler", (failed, len(list((folder / "kept").iterdir()))), (None, 2))
    number = 50 if PACKAGES or os.environ.get("BARECPC_CAMPAIGN") == "yes" else 2
    equal(f"an unchanged program passes in {number} folders, of other users, on other days", rounds(folder, number), [])
end()
