#!/usr/bin/env python3
"""A board that was started from a TFTP server sends its results there.

The server is Debian's tftpd-hpa, on a tap device in a network namespace of this test's own.  The files have the bytes that
`scripts/barecpc read` gets from the serial line."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / "cli")]
import own_network  # noqa: E402
from qmp_guest import Points  # noqa: E402
from stick import MACHINES, WAITS, Board, line_of  # noqa: E402

MAC = "525400123456"
SERVER, CLIENT = "10.9.8.1", "10.9.8.2"
BROADCAST = "255.255.255.255"
SO_BINDTODEVICE = 25


def serve_addresses(application):
    """Answer each DHCP request with CLIENT, and the application's name.  RFC 2131, RFC 2132."""
    port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    port.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    port.setsockopt(socket.SOL_SOCKET, SO_BINDTODEVICE, b"tap0\0")
    port.bind(("", 67))

    def answer():
        while True:
            asked = port.recv(2048)
            kind = asked[asked.index(b"\x35\x01", 240) + 2]  # option 53: DISCOVER is 1, REQUEST 3
            address = socket.inet_aton
            head = bytes([2, 1, 6, 0]) + asked[4:8] + b"\0\0\x80\0" + bytes(4) + address(CLIENT) + address(SERVER) + bytes(4)
            head += asked[28:44] + bytes(64) + application.encode().ljust(128, b"\0")
            options = bytes([99, 130, 83, 99, 53, 1, 2 if kind == 1 else 5, 54, 4, *address(SERVER), 51, 4, 0, 1, 0, 0,
                             1, 4, 255, 255, 255, 0, 3, 4, *address(SERVER), 255])
            port.sendto((head + options).ljust(300, b"\0"), (BROADCAST, 68))

    threading.Thread(target=answer, daemon=True).start()


class NetBoard(Board):
    """A board without a disk."""

    def disk(self, readonly):
        return ["-netdev", "tap,id=n,ifname=tap0,script=no,downscript=no",
                "-device", f"virtio-net-pci,netdev=n,romfile=,bootindex=0,mac={':'.join(MAC[i:i + 2] for i in range(0, 12, 2))}"]


class Server:
    """tftpd-hpa, which takes new files if it gets --create."""

    def __init__(self, tftpd, libraries, served):
        self.command = [tftpd, "--foreground", "--address", SERVER, "--user", "root", "--permissive", "--secure", served]
        self.environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
        self.start("--create")

    def start(self, *options):
        self.process = subprocess.Popen([*self.command[:-1], *options, self.command[-1]], env=self.environment)
        time.sleep(0.5)

    def stop(self):
        self.process.kill()
        self.process.wait()


def server_refuses(points, board, server, results):
    """The board keeps the results until the server takes them."""
    board.power_off()
    board.boot()
    wanted, _ = board.records(board.log.read_bytes())
    server.stop()
    server.start()
    # EDK II's PxeBcMtftp4WriteFile() leaves the Context of its token unset.  A refusal ends OVMF by the message or an exception.
    console = board.boot(until=WAITS.encode() + b"|Exception Type")
    points.check((line_of(console, f"{results.name} is not written: the TFTP server refuses it") or "Exception Type" in console) and
                 not results.exists(), f"{board.arch}: a server that refuses takes no file", *console.splitlines()[-12:])
    server.stop()
    server.start("--create")
    console = board.boot()
    points.check(wanted and results.exists() and results.read_bytes() == wanted,
                 f"{board.arch}: after a reset it gets the records of the serial line", *console.splitlines()[-12:])


def results_arrive(points, arch, folder, tftpd, libraries):
    served = folder / "served"
    served.mkdir()
    os.chmod(folder, 0o755)
    os.chmod(served, 0o777)
    application = MACHINES[arch][3]
    shutil.copy(ROOT / "build" / arch / application, served)
    (served / "barecpc.keep").write_text("results are welcome\n")
    # Both come from the server, too: the command line names the archive, whose suite is one program.
    (served / "barecpc.cfg").write_text("output=framed initrd=mine.cpio\n")
    (folder / "suite").write_text("spin\n")
    subprocess.run([ROOT / "scripts" / "mkcpio", "-o", served / "mine.cpio", folder / "suite"], check=True)
    serve_addresses(application)
    server = Server(tftpd, libraries, served)
    try:
        points.check(server.process.poll() is None, "tftpd-hpa runs")
        board = NetBoard(arch, folder)
        console = board.boot(once=False)
        wanted, status = board.records(board.log.read_bytes())
        names = sorted(p.name for p in served.iterdir())
        results, log = served / f"barecpc-{MAC}-results.jsonl", served / f"barecpc-{MAC}.log"
        points.check(line_of(console, f"results of the last run are in barecpc-{MAC}-results.jsonl, its log in barecpc-{MAC}.log") and results.name in names,
                     f"{arch}: results are on the TFTP server", *names, *console.splitlines()[-12:])
        points.check(wanted and results.exists() and results.read_bytes() == wanted,
                     f"{arch}: their bytes are those of the serial line")
        points.check(wanted and {json.loads(line)["payload"].partition("/")[0] for line in wanted.splitlines()} == {"spin"},
                     f"{arch}: barecpc.cfg and its archive come from the server")
        points.check(log.exists() and board.records(log.read_bytes()) == (wanted, status),
                     f"{arch}: the log can be read as the serial line, with the same status")
        server_refuses(points, board, server, served / f"barecpc-{MAC}-results-2.jsonl")
        # Two runs brought nothing home, and memory has nothing of a third.
        board.power_off()
        (served / f"barecpc-{MAC}.run").write_text("2 runs of barecpc without results\n")
        console = board.boot()
        points.check(line_of(console, "this run's results are not kept") and not board.kept(),
                     f"{arch}: memory that is lost each time starts no third run", *console.splitlines()[-12:])
    finally:
        server.stop()


def unpacked_server():
    return subprocess.run([ROOT / "scripts/setup", "--tftpd"], capture_output=True, text=True, check=True).stdout.strip()


def main():
    points = Points()
    folder = unpacked_server()
    tftpd = f"{folder}/usr/sbin/in.tftpd"
    libraries = ":".join(str(p) for p in pathlib.Path(folder).glob("usr/lib/*-linux-gnu"))
    for command in ("ip tuntap add tap0 mode tap", f"ip addr add {SERVER}/24 dev tap0", "ip link set tap0 up"):
        subprocess.run(command.split(), check=True)
    with tempfile.TemporaryDirectory() as name:
        results_arrive(points, "x86_64", pathlib.Path(name), tftpd, libraries)
    return points.end()


if __name__ == "__main__":
    unpacked_server()  # the test's own network has no mirror of packages
    own_network.enter()
    raise SystemExit(main())
