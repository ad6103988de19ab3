"""Routes over QEMU's user network, whose TFTP server gives out a folder: the firmware's own PXE, and iPXE."""

import functools
import http.server
import pathlib
import shutil
import threading

from machine import AAVMF, EFI, IMAGE, OVMF, Route, build, suite_archive
from media import drive, loaders

FIRMWARE = {"x86_64": OVMF, "arm64": AAVMF}
NAME = {"x86_64": "OVMF", "arm64": "AAVMF"}


def serve(folder):
    """An HTTP server of the folder on a free port of this host.  Return the port."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def network(folder, bootfile, extra=""):
    """A virtio network card, on a network with nothing but this TFTP server."""
    rom = loaders() / "usr/lib/ipxe/qemu/efi-virtio.rom"
    return ["-netdev", f"user,id=n,tftp={folder},bootfile={bootfile}{extra}",
            "-device", f"virtio-net-pci,netdev=n,romfile={rom if rom.exists() else ''}"]


def shared(folder):
    """The files that a boot server has."""
    out = pathlib.Path(folder) / "tftp"
    out.mkdir()
    for arch in EFI:
        shutil.copy(build(arch, EFI[arch]), out)
        shutil.copy(build(arch, IMAGE[arch]), out)
    shutil.copy(suite_archive(folder), out / "barecpc.cpio")
    (out / "barecpc.cfg").write_text("output=text\n")
    return out


def pxe(arch, folder):
    """The firmware's own PXE, without a boot ROM of the card.  The image fetches its configuration and archive."""
    options = network(shared(folder), EFI[arch])
    return ["-bios", FIRMWARE[arch], *options[:-1], "virtio-net-pci,netdev=n,romfile="]


def ipxe(url, folder):
    """iPXE from a stick runs a script.  The archive comes as an initrd."""
    out = shared(folder)
    base = "tftp://10.0.2.2" if url == "tftp" else f"http://10.0.2.2:{serve(out)}"
    script = pathlib.Path(folder) / "autoexec.ipxe"
    script.write_text(f"#!ipxe\ndhcp\nkernel {base}/bzImage initrd=barecpc.cpio output=text\n"
                      f"initrd {base}/barecpc.cpio\nboot\n")
    (out / "script.ipxe").write_bytes(script.read_bytes())
    stick = drive(folder, {"EFI/BOOT/BOOTX64.EFI": loaders() / "usr/lib/ipxe/ipxe.efi"})
    # iPXE takes the boot file that DHCP names as its script.
    return ["-bios", OVMF, *stick, "-device", "qemu-xhci", "-device", "usb-storage,drive=d,bootindex=0",
            *network(out, "script.ipxe")[:-1], "virtio-net-pci,netdev=n,romfile="]


def ipxe_bios(folder):
    """The network card's boot ROM is iPXE, under SeaBIOS."""
    out = shared(folder)
    (out / "script.ipxe").write_text("#!ipxe\nkernel tftp://10.0.2.2/bzImage output=text\n"
                                     "initrd tftp://10.0.2.2/barecpc.cpio\nboot\n")
    rom = loaders() / "usr/lib/ipxe/qemu/pxe-virtio.rom"
    return [*network(out, "script.ipxe")[:-1], f"virtio-net-pci,netdev=n,romfile={rom}", "-boot", "n"]


def routes():
    part = functools.partial
    yield Route("x86_64", "OVMF", "PXE, barecpc.cfg and archive by TFTP", part(pxe, "x86_64"))
    yield Route("arm64", "AAVMF", "PXE, barecpc.cfg and archive by TFTP", part(pxe, "arm64"))
    yield Route("x86_64", "OVMF", "iPXE by TFTP, initrd", part(ipxe, "tftp"))
    yield Route("x86_64", "OVMF", "iPXE by HTTP, initrd", part(ipxe, "http"))
    yield Route("x86_64", "SeaBIOS", "iPXE by TFTP, initrd", ipxe_bios, "linux-image")
