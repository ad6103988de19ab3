"""An arm64 guest whose devices have other registers than QEMU's reset leaves: QEMU's test protocol writes them first."""

import json
import pathlib
import socket
import subprocess
import threading

IMAGE = pathlib.Path(__file__).resolve().parents[3] / "build/arm64/Image"
SECONDS = 240  # of elapsed time, for what hangs


def _serve(path):
    s = socket.socket(socket.AF_UNIX)
    s.bind(str(path))
    s.listen(1)
    s.settimeout(SECONDS)  # a QEMU that ends before it connects
    return s


def _say(stream, line):
    stream.write(line + "\n")
    stream.flush()
    stream.readline()


def run(folder, name, options, writes):
    """Run the image after these lines of the protocol.  Returns what it prints, in bytes, and QEMU's status.

    `name` is that of the run in `folder`, `options` are the machine's and where it prints."""
    with _serve(folder / f"{name}.qtest") as qtest, _serve(folder / f"{name}.qmp") as qmp:
        guest = subprocess.Popen(
            ["qemu-system-aarch64", "-m", "256", "-display", "none", "-nodefaults", "-accel", "tcg", "-no-reboot", "-S",
             "-kernel", str(IMAGE), *options, "-qtest", f"unix:{qtest.getsockname()}", "-qtest-log", "/dev/null",
             "-qmp", f"unix:{qmp.getsockname()}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        watch = threading.Timer(SECONDS, guest.kill)
        watch.start()
        try:
            with qtest.accept()[0].makefile("rw") as registers, qmp.accept()[0].makefile("rw") as control:
                control.readline()
                for write in writes:
                    _say(registers, write)
                for command in ("qmp_capabilities", "cont"):
                    _say(control, json.dumps({"execute": command}))
                text = guest.stdout.read()
        finally:
            status = guest.wait()
            watch.cancel()
    return text, status
