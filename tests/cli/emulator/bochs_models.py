#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib:tests/cli/boot:tests/cli/emulator python3 -B
"""Each CPU of Bochs that has 64 bits runs the image, and one runs the image tests that need no PMU."""

import concurrent.futures
import pathlib
import re
import tempfile

import bochs
import tap
from loaders.machine import build

MODELS = """bx_generic p4_prescott_celeron_336 athlon64_clawhammer athlon64_venice turion64_tyler phenom_8650_toliman
    core2_penryn_t9600 corei5_lynnfield_750 corei5_arrandale_m520 corei7_sandy_bridge_2600k corei7_ivy_bridge_3770k
    corei7_haswell_4770 broadwell_ult corei7_skylake_x corei3_cnl corei7_icelake_u tigerlake zambezi trinity_apu ryzen""".split()
SUITE_MODEL = "corei7_haswell_4770"
AT_ONCE = 2


def one(model):
    """The text of a boot of this model."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bochs.make_disk(folder)
        return bochs.boot(model, folder).replace("\r", "")


def suite():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bochs.make_disk(folder, "output=text", build("x86_64", "basic.cpio"))
        return bochs.boot(SUITE_MODEL, folder).replace("\r", "")


def main():
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for model, text in zip(MODELS, pool.map(one, MODELS)):
            tap.check(f"{model}: the image runs", [] if text.rstrip().endswith("\nbarecpc: exit 77") else text.splitlines()[-8:] or ["silence"])
    text = suite()
    failed = re.findall(r"^not ok .*", text, re.M)
    tap.check(f"{SUITE_MODEL}: no image test fails", failed)
    tap.check(f"{SUITE_MODEL}: 500 points and more pass, and the run ends",
              [] if len(re.findall(r"^ok ", text, re.M)) >= 500 and "\nbarecpc: exit " in text else text.splitlines()[-8:] or ["silence"])
    tap.end()


if __name__ == "__main__":
    main()
