"""Makes a DHCP server without a vendor class one of HTTP boot.

QEMU's DHCP server names a boot file, which may be a URL.  Firmware asks a server for option 60 before it takes a URL
(UEFI, "HTTP Boot").  This adds it to each reply on the way to the machine.
"""

import socket
import struct
import threading

OPTION = b"\x3c\x0aHTTPClient\xff"
IP, UDP, OPTIONS = 14, 34, 34 + 8 + 240  # where they are in a frame: the header of IP has 20 bytes


def frames(stream):
    """The frames of a stream of QEMU: each comes after its length."""
    with stream.makefile("rb") as f:
        while len(head := f.read(4)) == 4:
            yield f.read(struct.unpack(">I", head)[0])


def with_option(frame):
    """A DHCP reply gets the option in the place of its end.  Zeros follow it there."""
    if len(frame) < OPTIONS or frame[12:14] != b"\x08\0" or frame[IP + 9] != 17 or frame[UDP:UDP + 2] != b"\0\x43":
        return frame
    at = OPTIONS
    while frame[at] != 255:
        at += 2 + frame[at + 1]
    changed = bytearray(frame)
    changed[at:at + len(OPTION)] = OPTION
    changed[UDP + 6:UDP + 8] = b"\0\0"  # no checksum
    return bytes(changed)


def relay(path, network_path):
    """Listen at `path` for a machine.  Pass frames between it and the network at `network_path`."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()

    def copy(source, target, change):
        for frame in frames(source):
            frame = change(frame)
            target.sendall(struct.pack(">I", len(frame)) + frame)

    def serve():
        machine, _ = server.accept()
        network = socket.socket(socket.AF_UNIX)
        network.connect(str(network_path))
        threading.Thread(target=copy, args=(machine, network, bytes), daemon=True).start()
        copy(network, machine, with_option)

    threading.Thread(target=serve, daemon=True).start()
