"""Secure Boot: firmware takes the image only if its owner has signed it.  Strict NX: firmware that enforces what pages are for."""

import functools
import pathlib
import shutil
import subprocess

from loaders.machine import EFI, ROOT, Route, build, prints, suite_archive
from loaders.media import USB, drive, unified_file, write

KEY, CERT = "/usr/share/ovmf/PkKek-1-snakeoil.key", "/usr/share/ovmf/PkKek-1-snakeoil.pem"
FIRMWARE = {
    "x86_64": ("/usr/share/OVMF/OVMF_CODE_4M.secboot.fd", "/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd"),
    "arm64": ("/usr/share/AAVMF/AAVMF_CODE.fd", "/usr/share/AAVMF/AAVMF_VARS.snakeoil.fd"),
}
GUARD = {"x86_64": ["-machine", "smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on"], "arm64": []}


def flash(arch, code, variables, folder):
    state = pathlib.Path(folder) / "vars.fd"
    shutil.copy(variables, state)
    return [*GUARD[arch], "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}",
            "-drive", f"if=pflash,unit=1,format=raw,file={state}"]


def files(arch, app, folder):
    return {f"EFI/BOOT/{EFI[arch]}": app, "barecpc.cfg": write(folder, "barecpc.cfg", "output=text\n"),
            "barecpc.cpio": suite_archive(folder)}


def stick(arch, signed, folder):
    """A stick with the application, signed by the key of the firmware packages or not."""
    app = pathlib.Path(folder) / EFI[arch]
    shutil.copy(build(arch, EFI[arch]), app)
    if signed:
        key = pathlib.Path(folder) / "key"
        subprocess.run(["openssl", "rsa", "-in", KEY, "-passin", "pass:snakeoil", "-out", key], check=True, capture_output=True)
        subprocess.run([ROOT / "scripts/sign", key, CERT, app], check=True, capture_output=True)
    return flash(arch, *FIRMWARE[arch], folder) + [*drive(folder, files(arch, app, folder)), *USB]


@functools.cache
def newer():
    """Firmware of a newer Debian."""
    return pathlib.Path(subprocess.check_output([ROOT / "scripts/setup", "--firmware"], text=True).strip()) / "usr/share"


def plain(arch, folder):
    return files(arch, build(arch, EFI[arch]), folder)


def code_as_data(arch, folder):
    """The application, whose section .text says that it is data."""
    app = pathlib.Path(folder) / EFI[arch]
    image = bytearray(build(arch, EFI[arch]).read_bytes())
    image[(at := image.index(b".text\0\0\0") + 36):at + 4] = (0xC0000040).to_bytes(4, "little")
    app.write_bytes(image)
    return files(arch, app, folder)


def strict(arch, volume, folder):
    """Firmware of the kind that has EFI_MEMORY_ATTRIBUTE_PROTOCOL.  That of arm64 also executes no pages of data."""
    name = {"x86_64": "OVMF/OVMF_CODE_4M.secboot.strictnx.fd", "arm64": "AAVMF/AAVMF_CODE.secboot.strictnx.fd"}[arch]
    variables = {"x86_64": "OVMF/OVMF_VARS_4M.fd", "arm64": "AAVMF/AAVMF_VARS.fd"}[arch]
    return flash(arch, newer() / name, newer() / variables, folder) + [*drive(folder, volume(arch, folder)), *USB]


def refused(arch, folder):
    """Does the firmware refuse the image that is not signed?"""
    return prints(arch, stick(arch, False, folder), "Access Denied") != ""


def enforced(folder):
    """Does arm64's firmware refuse to execute data?"""
    return prints("arm64", strict("arm64", code_as_data, folder), "Synchronous Exception") != ""


def routes():
    yield Route("x86_64", "OVMF, Secure Boot", "USB stick, signed", functools.partial(stick, "x86_64", True))
    yield Route("arm64", "AAVMF, Secure Boot", "USB stick, signed", functools.partial(stick, "arm64", True))
    for arch, name in (("x86_64", "OVMF"), ("arm64", "AAVMF")):
        yield Route(arch, f"{name}, strict NX", "USB stick", functools.partial(strict, arch, plain))
        yield Route(arch, f"{name}, strict NX", "unified kernel image", functools.partial(strict, arch, unified_file))
