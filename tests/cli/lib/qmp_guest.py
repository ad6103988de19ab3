"""A guest with access to QEMU's monitor, for tests of this folder.

scripts/host/emulator/qemu.py makes the command, and scripts/host/console/console.py parses the console."""

import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time

import tap
from host import cpio
from host.console import console
from host.emulator import qemu

ROOT = pathlib.Path(__file__).resolve().parents[3]


def cpu_seconds(pid):
    """The CPU time that a process has used, or None after its end.  A busy machine does not change it."""
    try:
        used = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return None
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


def connect(path, guest):
    """A connection to a socket that QEMU makes after its start.  Raises ChildProcessError if QEMU has ended."""
    while guest.poll() is None:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
            return connection
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            time.sleep(0.05)
    raise ChildProcessError(f"{path}: QEMU ended with status {guest.returncode}")


class Guest:
    """A run.  `log` holds the kernel's lines, `out` the programs' output, `records` their records.

    `payload` is an archive of build/ARCH, or the path of one; `image` names the kernel in the same way.  `options` are
    more words for QEMU.  `limit` is in
    seconds of QEMU's CPU time, so that a busy machine ends no run.  In elapsed time the limit is ten times as long, for a
    guest whose CPUs all sleep."""

    def __init__(self, arch, program=(), append="", smp="1", payload="tests.cpio", cpu="max", machine="", image=None, limit=120,
                 options=()):
        self._folder = tempfile.TemporaryDirectory()
        server = socket.socket(socket.AF_UNIX)
        server.bind(os.path.join(self._folder.name, "qmp"))
        server.listen(1)
        board = qemu.Machine(arch, smp=smp, cpu=cpu, machine=machine, qemu=qemu.default_emulator(arch, smp))
        words = ["console=framed", append] + (["--", *program] if program else [])
        image, initrd = (qemu.build_file(arch, name) for name in (image or qemu.ARCHS[arch].image, payload))
        self.log, self.out, self.records = [], b"", []
        self.killed = False  # at the limit
        self._console = console.Console(self._take, self.log.append)
        self._qemu = subprocess.Popen(
            [*qemu.command(board, image, " ".join(words), initrd), *options, "-qmp", f"unix:{server.getsockname()}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self._ended = threading.Event()
        threading.Thread(target=self._watch, args=(limit,), daemon=True).start()
        self._qmp = server.accept()[0].makefile("rw")
        server.close()
        self._qmp.readline()
        self.qmp("qmp_capabilities")
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _watch(self, limit):
        end = time.monotonic() + 10 * limit
        while not self._ended.wait(1):
            used = cpu_seconds(self._qemu.pid)
            if used is None:
                return
            if used > limit or time.monotonic() > end:
                self.killed = True
                self._qemu.kill()
                return

    def _take(self, stream, data):
        if stream == "json":
            self.records.append(json.loads(data))
        else:
            self.out += data

    def _read(self):
        while data := os.read(self._qemu.stdout.fileno(), 1 << 16):
            self._console.feed(data)
        self._console.close()

    @property
    def exit(self):
        """The number of the closing line, or None."""
        return self._console.exit

    def running(self):
        return self._reader.is_alive() and self.exit is None

    def wait_line(self, text):
        """Wait until the kernel has printed a line with this text, or the run has ended."""
        while self.running() and not any(text in line for line in self.log):
            time.sleep(0.01)

    def qmp(self, command, **arguments):
        """QEMU's answer, without events; None if QEMU has ended."""
        try:
            self._qmp.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
            self._qmp.flush()
            while line := self._qmp.readline():
                answer = json.loads(line)
                if "event" not in answer:
                    return answer
        except OSError:
            pass
        return None

    def monitor(self, line):
        """Run a command of QEMU's human monitor."""
        return self.qmp("human-monitor-command", **{"command-line": line})

    def wait(self):
        """Wait for the end of the run."""
        self._reader.join()
        self._qemu.wait()
        self._ended.set()
        try:
            self._qmp.close()
        except OSError:
            pass  # QEMU did not read the last command
        self._folder.cleanup()
        return self


def archive(arch, programs, suite, folder):
    """Make an archive of some of the tests' programs, with this suite.  Returns its path."""
    files = cpio.unpack(qemu.build_file(arch, "tests.cpio").read_bytes())
    files = {name: data for name, data in files.items() if name in programs}
    files["suite"] = "".join(line + "\n" for line in suite).encode()
    path = pathlib.Path(folder) / "some.cpio"
    path.write_bytes(cpio.pack(files))
    return path


class Points:
    """The points of a test, which tap.py prints.  `why` says more about a point that fails."""

    @staticmethod
    def check(good, name, *why):
        tap.check(name, [] if good else [str(line)[:298] for line in why or ("it is false",)])

    skip = staticmethod(tap.skip)
    passed = staticmethod(tap.passed)
    end = staticmethod(tap.end)
