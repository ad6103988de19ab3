#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""LAVA's dispatcher runs points of a sweep in QEMU, and one on a board.  Its logs give the records of `barecpc sweep`, byte for byte.

The dispatcher and the templates of devices come from the distribution's packages, unpacked.  No server and no worker runs.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import own_network
from fleet_engine import FLEET, POINTS, start, sweep, without_place
from host.emulator import qemu
from tap import check, end, equal

LAVA = FLEET / "lava"
PORT = 2001
# The server renders a device from its template and the context of a job.
RENDER = """import jinja2.sandbox, sys, yaml
loader = jinja2.FileSystemLoader(sys.argv[3:])
environment = jinja2.sandbox.SandboxedEnvironment(loader=loader, autoescape=False, trim_blocks=True)
context = (yaml.safe_load(open(sys.argv[2])) or {}).get("context", {})
print(environment.from_string(sys.argv[1]).render(**context))
"""
# lava-run, with its folder for downloads in a folder of the test.
RUN = """import runpy, sys
import lava_common.constants
lava_common.constants.DISPATCHER_DOWNLOAD_DIR = sys.argv.pop(1)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Lava:
    """The dispatcher and what it needs of a server."""

    def __init__(self, folder, packages, env):
        self.folder, self.packages, self.env = folder, packages, env
        (folder / "downloads").mkdir()
        (folder / "dispatcher.yaml").write_text("dispatcher_ip: 127.0.0.1\n")
        (folder / "bin").mkdir()
        (folder / "bin" / "telnet").symlink_to(packages / "usr/bin/inetutils-telnet")
        env["PATH"] = f"{folder}/bin:{env['PATH']}"

    def python(self, *words):
        return subprocess.run(["/usr/bin/python3", *map(str, words)], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def job(self, template, sweep_file, point, image=""):
        """Make the job of a point.  Returns its file."""
        made = subprocess.run([LAVA / "job", LAVA / template, sweep_file, str(point), image], cwd=self.folder, env=self.env,
                              capture_output=True, text=True)
        file = self.folder / f"job{point}.yaml"
        file.write_text(made.stdout)
        if made.returncode:
            print(f"# {made.stderr}")
        return file

    def run(self, job, device, results, point, place):
        """Run a job, and take the results from its log.  Returns the dispatcher's status, and its test cases."""
        rendered = self.python("-c", RENDER, device, job, LAVA, self.packages / "usr/share/lava-server/device-types")
        (self.folder / "device.yaml").write_text(rendered.stdout)
        done = self.python("-c", RUN, self.folder / "downloads", self.packages / "usr/bin/lava-run", "--job-id", point, "--output-dir",
                           self.folder / "output", "--device", "device.yaml", "--dispatcher", "dispatcher.yaml", job)
        log = self.folder / f"log{point}.yaml"
        log.write_text(done.stdout)
        console = self.python(LAVA / "console", log).stdout
        subprocess.run([sys.executable, self.env["BARECPC"], "sweep", results[0], "-o", results[1], "--point", str(point), "--place", place,
                        "--read", "-"], cwd=self.folder, input=console, text=True)
        return done.returncode, [entry for entry in map(case_of, done.stdout.splitlines()) if entry]

    def collect(self, results):
        done = subprocess.run([sys.executable, self.env["BARECPC"], "collect", results], cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def case_of(line):
    """A test case of LAVA's log: its name, result and measurement.  None if the line has none of ours."""
    match = re.search(r'"lvl": "results", "msg": ({.*})}', line)
    # YAML's flow style is JSON whose numbers and words may lack quotation marks.
    fields = dict(re.findall(r'"(case|definition|result|measurement)": "?([^",}]*)', match[1])) if match else {}
    return (fields["case"], fields["result"], fields.get("measurement", "")) if fields.get("definition") in ("records", "run") else None


def emulator(lava, wanted):
    """Points 1 and 4 of the sweep.  The other two are named as missing."""
    image = f"file://{qemu.build_file('arm64', 'Image')}"
    for point in (1, 4):
        status, cases = lava.run(lava.job("qemu-job.yaml", "A", point, image), "{% extends 'qemu.jinja2' %}", ("A", "emulator"), point, "emulator1")
        records = [json.loads(line) for line in wanted if f'"point":{point},' in line]
        equal(f"QEMU: point {point} ran", (status, cases[-1:]), (0, [("exit", "pass", "")]))
        equal("QEMU: each record is a test case with its count", cases[:-1], [
            (re.sub(r"\W+", "_", f'{r["label"]}","event":"{r["event"]}'.lower()), "pass" if r["count"] else "skip",
             str(r["count"]["net"]) if r["count"] else "null") for r in records])
    status, lines, said = lava.collect("emulator")
    check("QEMU: collect names the points that no job ran", [] if status == 1 and [bool(re.fullmatch(f"host: emulator: point {n}: .*: did not run", line))
          for n, line in zip((2, 3), said)] == [True, True] else said)
    got, places = without_place(lines)
    check("QEMU: the records of barecpc sweep, byte for byte",
          [] if got and got == [line for line in wanted if re.search('"point":[14],', line)] else [f"{len(got)} records", *said])
    equal("QEMU: each names its device", set(places), {"emulator1"})


def serial(lava, wanted):
    """QEMU is the board: it starts when the line is connected, as a board does at its reset."""
    (lava.folder / "one").write_text(POINTS.replace(" cortex-a72", "").replace("1 3", "1"))
    words = subprocess.run([sys.executable, lava.env["BARECPC"], "sweep", "one", "--point", "1", "--cmdline"], cwd=lava.folder, check=True,
                           capture_output=True, text=True).stdout.strip().replace("output=framed", "output=text")
    command = qemu.command(qemu.Machine("arm64", cpu="cortex-a53"), qemu.build_file("arm64", "Image"), words)
    command[command.index("stdio")] = f"tcp:127.0.0.1:{PORT},server=on,wait=on"
    board = subprocess.Popen([*command, "-no-shutdown"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    reset = lava.folder / "reset"
    try:
        own_network.wait_port(PORT)
        device = (f"{{% extends 'barecpc-serial.jinja2' %}}{{% set connection_command = 'telnet 127.0.0.1 {PORT}' %}}"
                  f"{{% set hard_reset_command = 'touch {reset}' %}}{{% set power_off_command = 'true' %}}")
        status, cases = lava.run(lava.job("serial-job.yaml", "one", 1), device, ("one", "serial"), 1, "board1")
        equal("serial line: the point ran", (status, cases[-1:]), (0, [("exit", "pass", "")]))
        check("serial line: the device's power switch is used", [] if reset.exists() else ["it is not"])
    finally:
        board.kill()
        board.wait()
    status, lines, said = lava.collect("serial")
    got, places = without_place(lines)
    check("serial line: the records of barecpc sweep, byte for byte",
          [] if (status, got) == (0, [line for line in wanted if '"point":1,' in line]) else [f"{len(got)} records", *said])
    equal("serial line: each names its device", set(places), {"board1"})


def main():
    packages, env = start("lava")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lava = Lava(folder, packages, env)
        wanted = sweep(folder, POINTS, "A")
        for part in (emulator, serial):
            part(lava, wanted)
    end()


main()
