#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A CPU of arm64 that starts after the boot CPU has given it up takes no part in the run.

A debugger holds it: of QEMU's CPUs, each a thread of the debugger, only those that it names go on."""

import pathlib
import socket
import subprocess
import tempfile
import threading

from host.emulator import qemu
from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]
GIVEN_UP = "cpu: CPU 2 "
SECONDS = 200  # for what hangs


def packet(text):
    return f"${text}#{sum(text.encode()) % 256:02x}".encode()


def main():
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/gdb"
        guest = subprocess.Popen([
            qemu.find_qemu("arm64", qemu.STOCK), "-M", "virt,gic-version=3", "-cpu", "max", "-smp", "3", "-m", "256", "-nodefaults", "-display", "none",
            "-serial", "stdio", "-no-reboot", "-S", "-chardev", f"socket,id=gdb,path={path},server=on,wait=off", "-gdb", "chardev:gdb",
            "-kernel", ROOT / "build/arm64/Image", "-append", "output=text -- triad -n -r 200 -e PAPI_tot_cyc 64"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        timer = threading.Timer(SECONDS, guest.kill)
        timer.start()
        debugger = socket.socket(socket.AF_UNIX)
        while not pathlib.Path(path).exists() and guest.poll() is None:
            timer.join(0.1)
        debugger.connect(path)
        debugger.sendall(packet("vCont;c:1;c:2"))
        for line in guest.stdout:
            lines.append(line.rstrip())
            if line.startswith(GIVEN_UP):  # now it starts
                debugger.sendall(b"\x03")
                said = b""
                while b"T02" not in said and (more := debugger.recv(4096)):  # nothing: it has ended
                    said += more
                debugger.sendall(b"+" + packet("vCont;c"))
        status = guest.wait()
        timer.cancel()
        debugger.close()
    cpus = [line for line in lines if line.startswith("cpu: ")]
    check("the boot CPU gives up the one that is held", [] if any(line.startswith(GIVEN_UP) for line in lines) else cpus)
    check("the other one takes part", [] if "cpu: 2 online" in lines else cpus)
    equal("the run ends well", (status, lines[-1]), (0, "barecpc: exit 0"))
    end()


if __name__ == "__main__":
    main()
