#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A sweep that Slurm runs as an array gives the records of `barecpc sweep`, byte for byte, and names each task that gave none.

Slurm's daemons come from the distribution's packages, unpacked.  They run on localhost, in a network of this test's own.
"""
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time

from fleet_engine import FLEET, POINTS, start, sweep, without_place
from tap import check, end, equal

SECONDS = 1200
NODE = "desk1"
PROGRAMS = ("slurmctld-wlm", "slurmd-wlm", "slurmstepd-wlm")

CONF = """ClusterName=barecpc
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
PluginDir={plugins}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
KillWait=1
NodeName={node} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


class Slurm:
    """slurmctld and slurmd of one node, until the end of a `with`."""

    def __init__(self, folder, packages, env):
        self.folder, self.env = folder, env
        plugins = next(packages.glob("usr/lib/*-linux-gnu/slurm-wlm"))
        self.env["SLURM_CONF"] = str(folder / "slurm.conf")
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "slurm.conf").write_text(CONF.format(host=socket.gethostname(), plugins=plugins, folder=folder, node=NODE))
        controller, node, step = (str(packages / "usr/sbin" / name) for name in PROGRAMS)
        self.commands = [[controller, "-D", "-c"], [node, "-D", "-N", NODE, "-d", step]]
        self.daemons = []

    def __enter__(self):
        for words in self.commands:
            with open(self.folder / f"{pathlib.Path(words[0]).name}.log", "wb") as log:
                self.daemons.append(subprocess.Popen(words, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            daemon.wait()

    def __call__(self, *words):
        """Run a command.  Returns its status and its lines."""
        done = subprocess.run(words, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return done.returncode, (done.stdout + done.stderr).splitlines()

    def wait(self, wanted, *words):
        """Repeat a command until wanted(lines)."""
        last = time.monotonic() + SECONDS
        while True:
            status, lines = self(*words)
            if status == 0 and wanted(lines):
                return lines
            if time.monotonic() > last:
                raise SystemExit(f"not after {SECONDS} s: {words}: {lines}")
            time.sleep(0.5)

    def state(self, job):
        """How a job ended: COMPLETED, FAILED or CANCELLED."""
        lines = self.wait(lambda lines: re.search(r"JobState=(COMPLETED|FAILED|CANCELLED)", " ".join(lines)), "scontrol", "show", "job", job)
        return re.search(r"JobState=(\w+)", " ".join(lines))[1]


def array(slurm, folder):
    wanted = sweep(folder, POINTS, "sizes")
    status, lines = slurm(str(FLEET / "slurm/submit"), "sizes", "out")
    check("submit prints the numbers of two jobs", [] if status == 0 and re.fullmatch(r"\d+ \d+", lines[-1]) else lines)
    job = lines[-1].split()[1]
    equal("all tasks end, then the job that collects", slurm.state(job), "COMPLETED")
    got, places = without_place((folder / "out" / "results.jsonl").read_text().splitlines())
    check("the records are those of barecpc sweep, byte for byte", [] if got == wanted and len(got) >= 4 else [f"{len(got)} records, {len(wanted)} wanted"])
    equal("each names its node", set(places), {NODE})
    said = (folder / f"barecpc-collect-{job}.log").read_text().splitlines()
    equal("its log counts the points", said, [f"host: 4 of 4 points ran, {len(wanted)} records"])
    equal("a folder with results is refused", slurm(str(FLEET / "slurm/submit"), "sizes", "out"), (
        1, ["submit: out: has the results of a sweep: give another folder, or run its missing points by sweep.sbatch"]))


def losses(slurm, folder):
    """One of three tasks fails, and one is cancelled before it starts."""
    (folder / "bad").write_text(POINTS.replace("cortex-a53 cortex-a72", "cortex-a53 nonsense"))
    script = str(FLEET / "slurm/sweep.sbatch")
    status, lines = slurm("sbatch", "--parsable", "--hold", "--array=1-3", script, "bad", "lost", "3")
    job = lines[-1]
    collect = slurm("sbatch", "--parsable", f"--dependency=afterany:{job}", "--output=said", str(FLEET / "slurm/collect.sbatch"), "lost")[1][-1]
    slurm("scancel", f"{job}_2")
    slurm("scontrol", "release", job)
    equal("the job that collects fails if points are missing", slurm.state(collect), "FAILED")
    said = (folder / "said").read_text().splitlines()
    check("a point whose machine does not start is named", [] if re.fullmatch(r"host: lost: point 3: .* cpu=nonsense .*: status 125: .+", said[1]) else said)
    check("and one whose task was cancelled", [] if re.fullmatch(r"host: lost: point 2: .* cpu=cortex-a53 .* runs=3 .*: did not run", said[0]) else said)
    wanted = [line for line in (folder / "sizes.results" / "results.jsonl").read_text().splitlines() if '"point":1,' in line]
    equal("the records of the others are there", without_place((folder / "lost" / "results.jsonl").read_text().splitlines())[0], wanted)


def main():
    packages, env = start("slurm")
    with tempfile.TemporaryDirectory() as name, Slurm(pathlib.Path(name), packages, env) as slurm:
        os.chmod(name, 0o755)
        slurm.wait(lambda lines: lines == [f"{NODE} idle"], "sinfo", "--noheader", "--format=%n %T")
        array(slurm, slurm.folder)
        losses(slurm, slurm.folder)
    end()


main()
