#!/usr/bin/env python3
"""Take the facts about core events from Intel's lists of events: intel.py FOLDER writes intel.facts.

FOLDER is a clone of https://github.com/intel/perfmon.  Its README.md says what the fields mean.
"""

import csv
import json
import re
import sys

import facts

# The PMU's name, its file, and its description.  The first CPU of a model number is what a hypervisor without core types
# shows: the P-core.
CPUS = """
nhm      NHM-EP/events/NehalemEP_core            Intel Nehalem
nhm_ex   NHM-EX/events/NehalemEX_core            Intel Nehalem EX
wsm      WSM-EP-SP/events/WestmereEP-SP_core     Intel Westmere (single-socket)
wsm_dp   WSM-EP-DP/events/WestmereEP-DP_core     Intel Westmere DP
wsm_ex   WSM-EX/events/WestmereEX_core           Intel Westmere EX
snb      SNB/events/sandybridge_core             Intel Sandy Bridge
snb_ep   JKT/events/Jaketown_core                Intel Sandy Bridge EP
ivb      IVB/events/ivybridge_core               Intel Ivy Bridge
ivb_ep   IVT/events/ivytown_core                 Intel Ivy Bridge EP
hsw      HSW/events/haswell_core                 Intel Haswell
hsw_ep   HSX/events/haswellx_core                Intel Haswell EP
bdw      BDW/events/broadwell_core               Intel Broadwell
bdw_ep   BDX/events/broadwellx_core              Intel Broadwell EP
bdw_de   BDW-DE/events/broadwellde_core          Intel Broadwell DE
skl      SKL/events/skylake_core                 Intel Skylake
skx      SKX/events/skylakex_core                Intel Skylake X
clx      CLX/events/cascadelakex_core            Intel CascadeLake X
icl      ICL/events/icelake_core                 Intel Icelake
icx      ICX/events/icelakex_core                Intel Icelake X
rkl      RKL/events/rocketlake_core              Intel Rocket Lake
tgl      TGL/events/tigerlake_core               Intel Tiger Lake
spr      SPR/events/sapphirerapids_core          Intel Sapphire Rapids
emr      EMR/events/emeraldrapids_core           Intel Emerald Rapids
gnr      GNR/events/graniterapids_core           Intel Granite Rapids
adl_glc  ADL/events/alderlake_goldencove_core    Intel Alder Lake P-core
mtl_rwc  MTL/events/meteorlake_redwoodcove_core  Intel Meteor Lake P-core
lnl_lnc  LNL/events/lunarlake_lioncove_core      Intel Lunar Lake P-core
arl_lnc  ARL/events/arrowlake_lioncove_core      Intel Arrow Lake P-core
ptl_cgc  PTL/events/pantherlake_cougarcove_core  Intel Panther Lake P-core
nvl_cyc  NVL/events/novalake_coyotecove_core     Intel Nova Lake P-core
atom     BNL/events/bonnell_core                 Intel Atom
slm      SLM/events/Silvermont_core              Intel Silvermont
glm      GLM/events/goldmont_core                Intel Goldmont
glp      GLP/events/goldmontplus_core            Intel Goldmont Plus
tmt      SNR/events/snowridgex_core              Intel Tremont
ehl      EHL/events/elkhartlake_core             Intel Elkhart Lake
adl_grt  ADL/events/alderlake_gracemont_core     Intel Alder Lake E-core
adl_n    ADL/events/alderlake_gracemont_core     Intel Alder Lake-N
mtl_cmt  MTL/events/meteorlake_crestmont_core    Intel Meteor Lake E-core
srf      SRF/events/sierraforest_core            Intel Sierra Forest
grr      GRR/events/grandridge_core              Intel Grand Ridge
lnl_skt  LNL/events/lunarlake_skymont_core       Intel Lunar Lake E-core
arl_skt  ARL/events/arrowlake_skymont_core       Intel Arrow Lake E-core
arl_cmt  ARL/events/arrowlake_crestmont_core     Intel Arrow Lake LP E-core
cwf      CWF/events/clearwaterforest_core        Intel Clearwater Forest
ptl_dkt  PTL/events/pantherlake_darkmont_core    Intel Panther Lake E-core
nvl_acw  NVL/events/novalake_arcticwolf_core     Intel Nova Lake E-core
knl      KNL/events/knightslanding_core          Intel Knights Landing
knm      KNL/events/knightslanding_core          Intel Knights Mill
"""
# Two CPUs of one file: which models, by the row of mapfile.csv.
ONLY = {"adl_n": "6-be", "adl_grt": r"6-(?!be).*", "knl": "6-57", "knm": "6-85"}


def numbers(text):
    """The numbers of a field, which may be several after commas."""
    return tuple(int(n, 0) for n in text.lower().split(","))


def counters(event):
    """The numbers of an event's counters, CounterHTOff has those of a core without a second thread."""
    return [int(n) for n in re.findall(r"\d+", event.get("CounterHTOff") or event["Counter"])]


def one(event, first_fixed):
    """The facts of an event.  first_fixed is the number that its list gives to fixed PIC 0."""
    low = facts.FIRST_FIXED - first_fixed if "ixed" in event["Counter"] else 0
    pics = sum(1 << n + low for n in counters(event))
    number = {key: numbers(event.get(key, "0"))[0] for key in ("EdgeDetect", "AnyThread", "Invert", "CounterMask", "UMaskExt")}
    rest = (
        number["EdgeDetect"] << 18 | number["AnyThread"] << 21 | number["Invert"] << 23 | number["CounterMask"] << 24
        | number["UMaskExt"] << 40
    )
    codes, masks = numbers(event["EventCode"]), numbers(event["UMask"])
    msrs = numbers(event.get("MSRIndex") or "0")
    # A list of one belongs to each of the other list's.
    n = max(len(codes), len(masks))
    codes, masks = (list * (n if len(list) == 1 else 1) for list in (codes, masks))
    selects = [code | mask << 8 | rest for code, mask in zip(codes, masks)]
    # Cascade Lake's list has older names as OFFCORE_RESPONSE:request=X:response=Y.  perf writes dots.
    name = re.sub(":RE(QUEST|SPONSE)=", ".", event["EventName"].upper())
    if msrs == (0,):
        return facts.Fact(name, tuple(selects), pics, (), 0, flags(event))
    if len(msrs) < n:
        selects = [s for s, m in zip(selects, (0x1A6, 0x1A7)) if m in msrs]
    return facts.Fact(name, tuple(selects), pics, msrs, numbers(event["MSRValue"])[0], flags(event))


def flags(event):
    """The letters of an event's flags."""
    return ("a" if event.get("TakenAlone") == "1" else "") + ("d" if event.get("Deprecated") == "1" else "")


def ids(rows, path, cpu):
    """The processors of a file, and its version."""
    found, version = [], ""
    for family_model, its_version, name, kind, core, *_ in rows:
        vendor, _, number = family_model.lower().partition("-")
        if vendor != "genuineintel" or name != f"/{path}" or kind not in ("core", "hybridcore"):
            continue
        number = "-".join(number.split("-")[:2])  # without the stepping: see events/cpu.c
        version = its_version.lstrip("V")
        if re.fullmatch(ONLY.get(cpu, ".*"), number):
            found.append(f"{int(number.split('-')[0]):x}-{number.split('-')[1]}" + (f"/{core[2:]}" if core else ""))
    return ",".join(dict.fromkeys(found)), version


def main(folder):
    """Write intel.facts."""
    checkout = facts.Checkout(folder, "BSD-3-Clause", "https://github.com/intel/perfmon")
    rows = list(csv.reader(checkout.text("mapfile.csv").splitlines()))
    cpus, found = [], {}
    for line in CPUS.split("\n")[1:-1]:
        name, path, description = line.split(None, 2)
        path += ".json"
        events = json.loads(checkout.text(path))["Events"]
        # Older lists count the fixed PICs from 1.  The first counts instructions on every CPU.
        (first,) = (counters(event)[0] for event in events if event["EventName"] == "INST_RETIRED.ANY")
        found[name] = [one(event, first) for event in events]
        mask = 0
        for fact in found[name]:
            mask |= fact.pics
        npic, nfixed = ((mask >> low & 0xFFFFFFFF).bit_length() for low in (0, facts.FIRST_FIXED))
        processors, version = ids(rows, path, name)
        cpus.append(facts.Cpu(name, path, version, npic, nfixed, processors, description))
    facts.write("intel", [checkout.source], cpus, found)


if __name__ == "__main__":
    main(*sys.argv[1:])
