"""Routes over a network: the firmware's own PXE and HTTP boot, and iPXE.

A second QEMU without a machine is the network.  It has a DHCP server, a TFTP server that gives out a folder, and a way
to this host.  The emulator that counts events is built without that network.
"""

import functools
import http.server
import pathlib
import shutil
import threading
import time

from loaders.http_client import relay
from loaders.machine import AAVMF, EFI, IMAGE, OVMF, Route, build, helper, make_disk, qemu, suite_archive
from loaders.media import USB, drive, loaders

FIRMWARE = {"x86_64": OVMF, "arm64": AAVMF}
NAME = {"x86_64": "OVMF", "arm64": "AAVMF"}
HOST = "10.0.2.2"


def serve_http(folder):
    """An HTTP server of the folder on a free port of this host.  Return the port."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def network(folder, served, bootfile, card="virtio-net-pci,romfile=", http_boot=False):
    """Start the network.  Return the options of a card on it."""
    path = pathlib.Path(folder) / "network"
    words = [qemu.find_qemu("x86_64"), "-M", "none", "-display", "none", "-nodefaults",
             "-netdev", f"user,id=u,tftp={served},bootfile={bootfile}", "-netdev", "hubport,hubid=0,id=a,netdev=u",
             "-netdev", f"stream,id=s,server=on,addr.type=unix,addr.path={path}", "-netdev", "hubport,hubid=0,id=b,netdev=s"]
    process = helper(words)
    while not path.exists():
        if process.poll() is not None:
            raise ChildProcessError(f"{words[0]} ends with {process.returncode}")
        time.sleep(0.1)
    if http_boot:
        network_path, path = path, path.with_name("relay")
        relay(path, network_path)
    return ["-netdev", f"stream,id=n,server=off,addr.type=unix,addr.path={path}", "-device", f"{card},netdev=n"]


def shared(folder):
    """The files that a boot server has."""
    out = pathlib.Path(folder) / "served"
    out.mkdir()
    for arch in EFI:
        shutil.copy(build(arch, EFI[arch]), out)
        shutil.copy(build(arch, IMAGE[arch]), out)
    shutil.copy(suite_archive(folder), out / "barecpc.cpio")
    (out / "barecpc.cfg").write_text("output=text\n")
    return out


def pxe(arch, folder):
    """The firmware's own PXE.  The image fetches its configuration and archive."""
    return ["-bios", FIRMWARE[arch], *network(folder, shared(folder), EFI[arch])]


def http_boot_disk(folder):
    """The firmware's own HTTP boot takes the disk image, with the files on it, as a disk."""
    out = shared(folder)
    make_disk("x86_64", folder).rename(out / "barecpc.img")
    url = f"http://{HOST}:{serve_http(out)}/barecpc.img"
    return ["-bios", OVMF, *network(folder, out, url, http_boot=True)]


def script(out, base):
    """A script for iPXE, which DHCP names as the boot file.  The archive comes as an initrd."""
    (out / "script.ipxe").write_text(f"#!ipxe\nkernel {base}/bzImage initrd=barecpc.cpio output=text\n"
                                     f"initrd {base}/barecpc.cpio\nboot\n")
    return "script.ipxe"


def ipxe(http_too, folder):
    """iPXE starts from a stick."""
    out = shared(folder)
    base = f"http://{HOST}:{serve_http(out)}" if http_too else f"tftp://{HOST}"
    stick = drive(folder, {"EFI/BOOT/BOOTX64.EFI": loaders() / "boot/ipxe.efi"})
    return ["-bios", OVMF, *stick, *USB[:-1], USB[-1] + ",bootindex=0", *network(folder, out, script(out, base))]


def ipxe_bios(folder):
    """The network card's boot ROM is iPXE."""
    out = shared(folder)
    rom = loaders() / "usr/lib/ipxe/qemu/pxe-e1000.rom"
    return network(folder, out, script(out, f"tftp://{HOST}"), f"e1000,romfile={rom}")


def routes():
    part = functools.partial
    yield Route("x86_64", "OVMF", "PXE, barecpc.cfg and archive by TFTP", part(pxe, "x86_64"))
    yield Route("arm64", "AAVMF", "PXE, barecpc.cfg and archive by TFTP", part(pxe, "arm64"))
    yield Route("x86_64", "OVMF", "HTTP boot of the disk image", http_boot_disk)
    yield Route("x86_64", "OVMF", "iPXE by TFTP, initrd", part(ipxe, False))
    yield Route("x86_64", "OVMF", "iPXE by HTTP, initrd", part(ipxe, True))
    yield Route("x86_64", "SeaBIOS", "iPXE by TFTP, initrd", ipxe_bios, "linux-image")
