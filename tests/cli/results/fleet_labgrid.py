#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""labgrid runs a sweep on its QEMUDriver, and at a place with a serial line only: the records are those of `barecpc sweep`.

labgrid and pytest come from the distribution's packages, unpacked.  No coordinator and no exporter runs.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import own_network
from fleet_engine import FLEET, POINTS, start, sweep, without_place
from host.emulator import qemu
from tap import check, end, equal

PORT = 2001  # of serial.yaml


def labgrid(folder, env, *words):
    """Run the script of examples/fleet/labgrid.  Returns its status and what it said."""
    done = subprocess.run([FLEET / "labgrid" / "sweep", *words], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout.splitlines()


def compare(name, folder, said, wanted, place):
    results = folder / "results.jsonl"
    got, places = without_place(results.read_text().splitlines() if results.exists() else [])
    check(f"{name}: the records of barecpc sweep, byte for byte", [] if got == wanted and got else [f"{len(got)} of {len(wanted)}", *said[-9:]])
    equal(f"{name}: each names its place", set(places), {place})


def emulator(folder, env, wanted):
    status, said = labgrid(folder, env, FLEET / "labgrid/qemu.yaml", "A", "emulator")
    equal("QEMUDriver: all points ran", (status, said[-1:]), (0, [f"host: 4 of 4 points ran, {len(wanted)} records"]))
    compare("QEMUDriver", folder / "emulator", said, wanted, "emulator")
    equal("a folder with results is refused", labgrid(folder, env, FLEET / "labgrid/qemu.yaml", "A", "emulator"), (
        1, ["sweep: emulator: has the results of a sweep: give another folder"]))


def losses(folder, env, wanted):
    (folder / "bad").write_text(POINTS.replace("cortex-a53 cortex-a72", "cortex-a53 nonsense").replace("1 3", "1"))
    status, said = labgrid(folder, env, FLEET / "labgrid/qemu.yaml", "bad", "lost")
    check("a machine that does not start is named", [] if status == 1 and re.fullmatch(
        "host: lost: point 2: .* cpu=nonsense .*: status 125: .*nothing came", said[-2]) else said[-8:])
    compare("the other point", folder / "lost", said, [line for line in wanted if '"point":1,' in line], "emulator")


def serial(folder, env, wanted):
    """QEMU is the board: it waits for the connection, as a board for its switch, and ends by itself."""
    (folder / "one").write_text(POINTS.replace(" cortex-a72", "").replace("1 3", "1"))
    words = subprocess.run([sys.executable, env["BARECPC"], "sweep", "one", "--point", "1", "--cmdline"], cwd=folder, check=True,
                           capture_output=True, text=True).stdout.strip()
    command = qemu.command(qemu.Machine("arm64", cpu="cortex-a53"), qemu.build_file("arm64", "Image"), words)
    command[command.index("stdio")] = f"tcp:127.0.0.1:{PORT},server=on,wait=on"
    board = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        own_network.wait_port(PORT)
        status, said = labgrid(folder, env, FLEET / "labgrid/serial.yaml", "one", "serial")
        equal("serial line: the point ran", (status, said[-1:]), (0, [f"host: 1 of 1 points ran, {len(wanted) // 4} records"]))
        compare("serial line", folder / "serial", said, [line for line in wanted if '"point":1,' in line], "board")
    finally:
        board.kill()
        board.wait()


def main():
    _, env = start("labgrid")
    env["LG_IMAGES"] = str(qemu.build_file("arm64", "Image").parent)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        wanted = sweep(folder, POINTS, "A")
        emulator(folder, env, wanted)
        losses(folder, env, wanted)
        serial(folder, env, wanted)
    end()


main()
