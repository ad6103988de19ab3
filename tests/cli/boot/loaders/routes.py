"""The routes that need no package: QEMU's own loader, SeaBIOS, qboot, OVMF and AAVMF, from every kind of disk."""

import functools

from loaders.machine import AAVMF, IMAGE, OVMF, WORDS, Route, build, make_disk, prints, suite_archive

FIRMWARE = {"x86_64": OVMF, "arm64": AAVMF}
NAME = {"x86_64": "OVMF", "arm64": "AAVMF"}
DRIVES = {
    "virtio": ["-device", "virtio-blk-pci,drive=d"],
    "NVMe": ["-device", "nvme,serial=1,drive=d"],
    "USB stick": ["-device", "qemu-xhci", "-device", "usb-storage,drive=d"],
    "CD": ["-device", "ich9-ahci,id=sata", "-device", "ide-cd,bus=sata.0,drive=d"],
    "AHCI": ["-device", "ich9-ahci,id=sata", "-device", "ide-hd,bus=sata.0,drive=d"],
}


def direct(arch, bios, archive, folder):
    """QEMU's -kernel: the firmware, or QEMU, knows the boot protocol."""
    options = ["-kernel", build(arch, IMAGE[arch])]
    options += ["-bios", bios] if bios else []
    if archive:
        return [*options, "-append", "output=text", "-initrd", suite_archive(folder)]
    return [*options, "-append", WORDS]


def disk(arch, drive, folder, medium=""):
    return ["-bios", FIRMWARE[arch], "-drive", f"if=none,id=d,format=raw,file={make_disk(arch, folder)}{medium}", *drive]


def bios_says(folder):
    """BIOS starts the disk: what does it print?  SeaBIOS without a screen prints to the serial line."""
    options = disk("x86_64", [], folder)[2:]
    return prints("x86_64", [*options, *DRIVES["AHCI"]], "started by BIOS: choose this medium's UEFI entry", ["-M", "q35,graphics=off"])


def routes():
    part = functools.partial
    yield Route("x86_64", "SeaBIOS", "QEMU -kernel, 16-bit entry, initrd", part(direct, "x86_64", None, True), "linux-image", True)
    yield Route("x86_64", "qboot", "QEMU -kernel, 16-bit entry", part(direct, "x86_64", "/usr/share/qemu/qboot.rom", False),
                "linux-image", True)
    yield Route("x86_64", "OVMF", "QEMU -kernel, initrd", part(direct, "x86_64", OVMF, True), check=True)
    yield Route("arm64", "none", "QEMU -kernel, initrd", part(direct, "arm64", None, True), "linux-image", True)
    yield Route("arm64", "AAVMF", "QEMU -kernel, initrd", part(direct, "arm64", AAVMF, True), check=True)
    for arch in FIRMWARE:
        for name, drive in DRIVES.items():
            if arch == "arm64" and name in ("AHCI", "CD"):
                continue  # AAVMF finds no disk on AHCI: docs/boot.md
            yield Route(arch, NAME[arch], name, part(disk, arch, drive), check=(arch, name) == ("x86_64", "USB stick"))
        # Firmware takes it for a disk that can be written.
        yield Route(arch, NAME[arch], "CD on USB", part(disk, arch, DRIVES["USB stick"], medium=",media=cdrom,readonly=on"))
    yield Route("arm64", "AAVMF", "CD, by virtio-scsi", part(disk, "arm64", ["-device", "virtio-scsi-pci", "-device", "scsi-cd,drive=d"]))
