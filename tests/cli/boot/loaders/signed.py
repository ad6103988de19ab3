"""Secure Boot: firmware takes the image only if its owner has signed it."""

import functools
import pathlib
import shutil
import subprocess

from loaders.machine import EFI, ROOT, Route, build, prints, suite_archive
from loaders.media import USB, drive, write

KEY, CERT = "/usr/share/ovmf/PkKek-1-snakeoil.key", "/usr/share/ovmf/PkKek-1-snakeoil.pem"
FIRMWARE = {
    "x86_64": ("/usr/share/OVMF/OVMF_CODE_4M.secboot.fd", "/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd"),
    "arm64": ("/usr/share/AAVMF/AAVMF_CODE.fd", "/usr/share/AAVMF/AAVMF_VARS.snakeoil.fd"),
}
GUARD = {"x86_64": ["-machine", "smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on"], "arm64": []}


def stick(arch, signed, folder):
    """A stick with the application, signed by the key of the firmware packages or not."""
    app = pathlib.Path(folder) / EFI[arch]
    shutil.copy(build(arch, EFI[arch]), app)
    if signed:
        key = pathlib.Path(folder) / "key"
        subprocess.run(["openssl", "rsa", "-in", KEY, "-passin", "pass:snakeoil", "-out", key], check=True, capture_output=True)
        subprocess.run([ROOT / "scripts/sign", key, CERT, app], check=True, capture_output=True)
    code, variables = FIRMWARE[arch]
    state = pathlib.Path(folder) / "vars.fd"
    shutil.copy(variables, state)
    files = {f"EFI/BOOT/{EFI[arch]}": app, "barecpc.cfg": write(folder, "barecpc.cfg", "output=text\n"),
             "barecpc.cpio": suite_archive(folder)}
    return [*GUARD[arch], "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}",
            "-drive", f"if=pflash,unit=1,format=raw,file={state}", *drive(folder, files), *USB]


def refused(arch, folder):
    """Does the firmware refuse the image that is not signed?"""
    return prints(arch, stick(arch, False, folder), "Access Denied") != ""


def routes():
    yield Route("x86_64", "OVMF, Secure Boot", "USB stick, signed", functools.partial(stick, "x86_64", True))
    yield Route("arm64", "AAVMF, Secure Boot", "USB stick, signed", functools.partial(stick, "arm64", True))
