"""Routes by kexec from Debian's Linux, which was started by device tree, by BIOS or by UEFI."""

import functools
import pathlib
import subprocess

from machine import AAVMF, IMAGE, OVMF, ROOT, Route, build, cpio, suite_archive

CC = {"x86_64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"}
CONSOLE = {"x86_64": "ttyS0", "arm64": "ttyAMA0"}


def linux(arch):
    """Debian's kernel, which the tests of KVM fetch too."""
    folder = subprocess.check_output([ROOT / "tests/kvm/outer-linux", "--path", arch], text=True).strip()
    return pathlib.Path(folder) / "vmlinuz"


def start_init(arch, folder):
    """An initramfs whose init is kexec.c, with the image and its archive."""
    init = pathlib.Path(folder) / "init"
    subprocess.run([CC[arch], "-static", "-Os", "-o", init, ROOT / "tests/cli/loaders/kexec.c"], check=True)
    path = pathlib.Path(folder) / "linux.cpio"
    path.write_bytes(cpio.pack({"init": init.read_bytes(), "image": build(arch, IMAGE[arch]).read_bytes(),
                                "archive": suite_archive(folder).read_bytes()}))
    return path


def kexec(arch, bios, folder):
    words = f"console={CONSOLE[arch]} panic=-1 kexec:output=text"
    return [*(["-bios", bios] if bios else []), "-kernel", linux(arch), "-initrd", start_init(arch, folder), "-append", words]


def routes():
    part = functools.partial
    yield Route("x86_64", "SeaBIOS", "kexec from Linux", part(kexec, "x86_64", None), "linux-image")
    yield Route("x86_64", "OVMF", "kexec from Linux", part(kexec, "x86_64", OVMF), "linux-image")
    yield Route("arm64", "none", "kexec from Linux", part(kexec, "arm64", None), "linux-image")
    yield Route("arm64", "AAVMF", "kexec from Linux", part(kexec, "arm64", AAVMF), "linux-image")
