"""The modules of scripts/barecpc and scripts/mkcpio, in whose folder Python finds them.

The folder emulator/ runs QEMU and judges how it ended.  The folder console/ makes output, records and files of what a
guest or a board prints.  The folder results/ reads records: for profiles, comparisons, other formats and sweeps.  The
folder programs/ reads the programs that a user brings.
"""

import importlib.util
import sys


def lazy(name):
    """A module that is loaded at its first use: each command needs only some."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.find_spec(name)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
