"""Routes by kexec from Debian's Linux, which was started by device tree, by BIOS or by UEFI.

The kernel and kexec-tools are Debian's packages."""

import functools
import pathlib
import subprocess

from loaders.machine import AAVMF, IMAGE, OVMF, ROOT, Route, build, cpio, suite_archive

DEB = {"x86_64": "amd64", "arm64": "arm64"}
CONSOLE = {"x86_64": "ttyS0", "arm64": "ttyAMA0"}
INIT = """#!/busybox sh
/busybox mkdir /proc /sys
/busybox mount -t proc proc /proc
/busybox mount -t sysfs sys /sys
run() {{ /ld-linux-* --library-path / /kexec "$@"; }}
run {call} -l /image {initrd} --command-line='{words}' && run -e
/busybox poweroff -f
"""


def linux(arch):
    """Debian's kernel, which the tests of KVM fetch too."""
    folder = subprocess.check_output([ROOT / "tests/kvm/outer-linux", "--path", arch], text=True).strip()
    return pathlib.Path(folder) / "vmlinuz"


@functools.cache
def packages():
    return pathlib.Path(subprocess.check_output([ROOT / "scripts/setup", "--kexec"], text=True).strip())


def start_init(arch, call, folder, words):
    """An initramfs that starts the image by this system call of kexec, with these words, or with an archive."""
    root = packages() / DEB[arch]
    init = INIT.format(call=call, words=words or "output=text", initrd="" if words else "--initrd=/archive")
    files = {"init": init.encode(), "image": build(arch, IMAGE[arch]).read_bytes(), "archive": suite_archive(folder).read_bytes()}
    names = ["bin/busybox", "sbin/kexec", "lib/*/libc.so.6", "lib/*/libz.so.1", "lib/*/ld-linux-*", "usr/lib/*/libxen*.so.*"]
    for name in names:
        files.update({path.name: path.read_bytes() for path in root.glob(name)})
    path = pathlib.Path(folder) / "linux.cpio"
    path.write_bytes(cpio.pack(files))
    return path


def kexec(arch, bios, call, options, folder, words=""):
    linux_words = f"console={CONSOLE[arch]} panic=-1"
    return [*(["-bios", bios] if bios else []), *options, "-kernel", linux(arch), "-initrd", start_init(arch, call, folder, words),
            "-append", linux_words]


def routes():
    part = functools.partial
    for arch, name, bios in (("x86_64", "SeaBIOS", None), ("x86_64", "OVMF", OVMF), ("arm64", "none", None), ("arm64", "AAVMF", AAVMF)):
        yield Route(arch, name, "Linux, kexec_load, initrd", part(kexec, arch, bios, "-c", []), "linux-image")
        if arch == "x86_64":  # Debian's kernel of arm64 has no kexec_file_load
            yield Route(arch, name, "Linux, kexec_file_load, initrd", part(kexec, arch, bios, "-s", []), "linux-image")
    # kexec-tools take the highest memory.  Linux uses five-level paging if the CPU has it.
    high = part(kexec, "x86_64", None, "-c")
    yield Route("x86_64", "SeaBIOS", "Linux, kexec_load above 4 GiB", part(high, ["-m", "5G"]), "linux-image")
    yield Route("x86_64", "SeaBIOS", "Linux, kexec_load above 4 GiB, four-level paging",
                part(high, ["-m", "5G", "-cpu", "max,la57=off"]), "linux-image")
