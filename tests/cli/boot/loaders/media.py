"""Routes by boot loaders of the distribution, which scripts/setup --loaders unpacks."""

import functools
import os
import pathlib
import platform
import subprocess

from loaders.machine import AAVMF, EFI, IMAGE, OVMF, ROOT, WORDS, Route, build, make_disk, suite_archive

FIRMWARE = {"x86_64": OVMF, "arm64": AAVMF}
NAME = {"x86_64": "OVMF", "arm64": "AAVMF"}
GRUB = {"x86_64": "x86_64-efi", "arm64": "arm64-efi"}
BOOT_FILE = EFI
SUITE = "output=text"
USB = ["-device", "qemu-xhci", "-device", "usb-storage,drive=d"]


@functools.cache
def loaders():
    return pathlib.Path(subprocess.check_output([ROOT / "scripts/setup", "--loaders"], text=True).strip())


def tool(*words, cwd=None):
    """Run a program of those packages, with its libraries."""
    libraries = loaders() / "usr/lib" / f"{platform.machine()}-linux-gnu"
    subprocess.run([loaders() / "usr/bin" / words[0], *map(str, words[1:])], check=True, cwd=cwd, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE, env={**os.environ, "LD_LIBRARY_PATH": str(libraries)})


def put_files(volume, files):
    """Write these files to a FAT volume: path on it: path here."""
    run = functools.partial(subprocess.run, check=True, env={**os.environ, "MTOOLS_SKIP_CHECK": "1"})
    made = set()
    for to, source in files.items():
        for parent in reversed(pathlib.PurePosixPath(to).parents[:-1]):
            if parent not in made:
                run(["mmd", "-i", volume, f"::/{parent}"])
            made.add(parent)
        run(["mcopy", "-i", volume, source, f"::/{to}"])


def drive(folder, files):
    """QEMU's options for a USB stick with these files."""
    image = pathlib.Path(folder) / "stick.img"
    with open(image, "wb") as f:
        f.truncate(64 << 20)
    subprocess.run(["mformat", "-i", image, "-F", "-T", str(64 << 11), "-h", "64", "-s", "32", "::"], check=True)
    put_files(image, files)
    return ["-drive", f"if=none,id=d,format=raw,file={image}"]


def write(folder, name, text):
    path = pathlib.Path(folder) / name
    path.write_text(text)
    return path


def grub_image(folder, target, config):
    """A GRUB with this configuration in it."""
    out = pathlib.Path(folder) / f"grub-{target}"
    cfg = write(folder, "grub.cfg", config)
    modules = "linux normal configfile search fat part_gpt part_msdos all_video serial"
    if target.endswith("efi"):
        modules += " chain"
    else:
        modules = "linux linux16 normal configfile search fat biosdisk serial"
    tool("grub-mkimage", "-d", loaders() / "usr/lib/grub" / target, "-O", target, "-p", "/", "-c", cfg, "-o", out, *modules.split())
    return out


def grub_linux(arch, folder):
    grub = grub_image(folder, GRUB[arch], f"search --file --set=root /k\nlinux /k {SUITE}\ninitrd /suite.cpio\nboot\n")
    files = {f"EFI/BOOT/{BOOT_FILE[arch]}": grub, "k": build(arch, IMAGE[arch]), "suite.cpio": suite_archive(folder)}
    return ["-bios", FIRMWARE[arch], *drive(folder, files), *USB]


def grub_chain(arch, folder):
    grub = grub_image(folder, GRUB[arch], f"search --file --set=root /k.efi\nchainloader /k.efi {WORDS}\nboot\n")
    files = {f"EFI/BOOT/{BOOT_FILE[arch]}": grub, "k.efi": build(arch, EFI[arch])}
    return ["-bios", FIRMWARE[arch], *drive(folder, files), *USB]


def grub_bios(command, folder):
    """GRUB's own boot sector and core image, on a disk with an MBR."""
    grub = grub_image(folder, "i386-pc", "search --file --set=root /k\n" + command.format(words=SUITE) + "\nboot\n")
    options = drive(folder, {"k": build("x86_64", IMAGE["x86_64"]), "suite.cpio": suite_archive(folder)})
    # lnxboot.img makes a kernel of GRUB itself, which QEMU's -kernel starts by its 16-bit entry.
    whole = pathlib.Path(folder) / "grub.lkrn"
    whole.write_bytes((loaders() / "usr/lib/grub/i386-pc/lnxboot.img").read_bytes() + grub.read_bytes())
    return ["-kernel", whole, *options, "-device", "ich9-ahci,id=sata", "-device", "ide-hd,bus=sata.0,drive=d"]


def systemd_boot(arch, folder):
    loader = loaders() / "usr/lib/systemd/boot/efi" / ("systemd-bootx64.efi" if arch == "x86_64" else "systemd-bootaa64.efi")
    entry = write(folder, "barecpc.conf", f"title barecpc\nlinux /k\ninitrd /suite.cpio\noptions {SUITE}\n")
    conf = write(folder, "loader.conf", "default barecpc.conf\ntimeout 0\n")
    files = {f"EFI/BOOT/{BOOT_FILE[arch]}": loader, "loader/loader.conf": conf, "loader/entries/barecpc.conf": entry,
             "k": build(arch, EFI[arch]), "suite.cpio": suite_archive(folder)}
    return ["-bios", FIRMWARE[arch], *drive(folder, files), *USB]


def unified_file(arch, folder):
    """A unified kernel image: systemd-stub with command line, kernel and initrd as sections.  It is the only file."""
    stub = loaders() / "usr/lib/systemd/boot/efi" / ("linuxx64.efi.stub" if arch == "x86_64" else "linuxaa64.efi.stub")
    out = pathlib.Path(folder) / "unified.efi"
    parts = {".cmdline": (write(folder, "cmdline", SUITE), 0x30000), ".linux": (build(arch, EFI[arch]), 0x2000000),
             ".initrd": (suite_archive(folder), 0x3000000)}
    words = [word for name, (file, at) in parts.items()
             for word in ("--add-section", f"{name}={file}", "--change-section-vma", f"{name}={at:#x}")]
    prefix = "x86_64-linux-gnu-" if arch == "x86_64" else "aarch64-linux-gnu-"
    subprocess.run([prefix + "objcopy", *words, stub, out], check=True)
    return {f"EFI/BOOT/{BOOT_FILE[arch]}": out}


def unified(arch, folder):
    return ["-bios", FIRMWARE[arch], *drive(folder, unified_file(arch, folder)), *USB]


def refind(folder):
    base = loaders() / "usr/share/refind/refind"
    conf = write(folder, "refind.conf", "timeout -1\ntextonly true\nscanfor manual\nmenuentry barecpc {\n    loader /k.efi\n"
                 f"    initrd /suite.cpio\n    options \"{SUITE}\"\n}}\n")
    files = {"EFI/BOOT/BOOTX64.EFI": base / "refind_x64.efi", "EFI/BOOT/refind.conf": conf,
             "k.efi": build("x86_64", EFI["x86_64"]), "suite.cpio": suite_archive(folder)}
    return ["-bios", OVMF, *drive(folder, files), *USB]


def uboot(arch, words, folder):
    """U-Boot, as the firmware, looks for extlinux.conf.  Without it, it starts the UEFI application."""
    board = {"x86_64": "qemu-x86/u-boot.rom", "arm64": "qemu_arm64/u-boot.bin"}[arch]
    image = make_disk(arch, folder)
    if words:
        conf = write(folder, "extlinux.conf", f"default b\nlabel b\n  kernel /k\n  initrd /suite.cpio\n  append {words}\n")
        put_files(f"{image}@@1M", {"extlinux/extlinux.conf": conf, "k": build(arch, IMAGE[arch]),
                                   "suite.cpio": suite_archive(folder)})
    medium = ["virtio-blk-pci,drive=d"] if arch == "arm64" else ["ide-hd,bus=ide.0,drive=d"]
    return ["-bios", loaders() / "usr/lib/u-boot" / board, "-drive", f"if=none,id=d,format=raw,file={image}", "-device", *medium]


def routes():
    part = functools.partial
    for arch in ("x86_64", "arm64"):
        via = "linux-image" if arch == "x86_64" else "uefi"
        yield Route(arch, NAME[arch], "GRUB linux, initrd", part(grub_linux, arch), via)
        yield Route(arch, NAME[arch], "GRUB chainloader", part(grub_chain, arch))
        yield Route(arch, NAME[arch], "systemd-boot, initrd", part(systemd_boot, arch))
        yield Route(arch, NAME[arch], "unified kernel image, initrd", part(unified, arch))
    yield Route("x86_64", "SeaBIOS", "GRUB linux, initrd", part(grub_bios, "linux /k {words}\ninitrd /suite.cpio"), "linux-image")
    yield Route("x86_64", "SeaBIOS", "GRUB linux16, initrd", part(grub_bios, "linux16 /k {words}\ninitrd16 /suite.cpio"), "linux-image")
    yield Route("x86_64", "OVMF", "rEFInd, initrd", refind)
    yield Route("arm64", "U-Boot", "extlinux, booti, initrd", part(uboot, "arm64", SUITE), "linux-image")
    yield Route("arm64", "U-Boot", "bootefi", part(uboot, "arm64", None))
    # The initrd that U-Boot hands over here has 0 bytes: docs/boot.md.
    yield Route("x86_64", "U-Boot", "extlinux, zboot", part(uboot, "x86_64", WORDS), "linux-image")
