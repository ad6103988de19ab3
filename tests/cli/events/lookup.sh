#!/bin/sh
# Looking up a name takes fewer than 2,000 instructions, for any name of any CPU's table.
# The two tables of NetBurst have no backend, and are not tested.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# lookup ARCH TABLE CPU: cpc_lookup passes on this CPU, which has this table.
lookup() {
	scripts/barecpc run --arch "$1" --accel tcg --cpu "$3" --payload "build/$1/tests.cpio" -- cpc_lookup \
		>"$out" 2>"$err" </dev/null || { tail -n 8 "$out" "$err"; return 1; }
	grep "^# request: .*: $2::" "$out" >>"$tap_dir/$1" || { grep '^# request' "$out"; return 1; }
}

# lookups ARCH CPU: the same for each line of the input: a table, and the rest of the CPU's options.
lookups() {
	while read -r table cpu; do
		check "$table: lookups" lookup "$1" "$table" "$2,$cpu"
	done
}

lookups x86_64 "$(scripts/qemu-pmu --cpu intel-v5)" <<-END
	core family=6,model=15
	atom family=6,model=28
	nhm family=6,model=26
	nhm_ex family=6,model=46
	wsm family=6,model=37
	wsm_dp family=6,model=44
	snb family=6,model=42
	snb_ep family=6,model=45
	ivb family=6,model=58
	ivb_ep family=6,model=62
	hsw family=6,model=60
	hsw_ep family=6,model=63
	bdw family=6,model=61
	bdw_ep family=6,model=79
	skl family=6,model=94
	skx family=6,model=85,stepping=4
	clx family=6,model=85,stepping=7
	icl family=6,model=126
	icx family=6,model=106
	spr family=6,model=143
	knc family=11,model=1
	slm family=6,model=55
	glm family=6,model=92
	tmt family=6,model=134
	knl family=6,model=87
	knm family=6,model=133
	gnr family=6,model=173
	adl_n family=6,model=190
END

lookups x86_64 "$(scripts/qemu-pmu --cpu amd-core)" <<-END
	amd64_k7 family=6,model=6
	amd64_k8_revb family=15,model=5,stepping=1
	amd64_k8_revc family=15,model=5,stepping=8
	amd64_k8_revd family=15,model=20
	amd64_k8_reve family=15,model=33
	amd64_k8_revf family=15,model=65
	amd64_k8_revg family=15,model=104
	amd64_fam10h_barcelona family=16,model=2
	amd64_fam10h_shanghai family=16,model=4
	amd64_fam10h_istanbul family=16,model=8
	amd64_fam11h_turion family=17,model=3
	amd64_fam12h_llano family=18,model=1
	amd64_fam14h_bobcat family=20,model=1
	amd64_fam15h_interlagos family=21,model=1
	amd64_fam16h family=22,model=0
	amd64_fam17h_zen1 family=23,model=1
	amd64_fam17h_zen2 family=23,model=49
	amd64_fam19h_zen3 family=25,model=1
	amd64_fam19h_zen4 family=25,model=17
	amd64_fam1ah_zen5 family=26,model=2
END

# The other CPUs.
if [ "${BARECPC_CAMPAIGN-}" = yes ]; then
	lookups x86_64 "$(scripts/qemu-pmu --cpu intel-v5)" <<-END
		tgl family=6,model=140
		rkl family=6,model=167
		emr family=6,model=207
		glp family=6,model=122
		ehl family=6,model=150
		adl_glc family=6,model=151
		mtl_rwc family=6,model=170
		lnl_lnc family=6,model=189
		srf family=6,model=175
		grr family=6,model=182
		arl_lnc family=6,model=197
		ptl_cgc family=6,model=204
		cwf family=6,model=221
		nvl_cyc family=18,model=1
	END
	lookups arm64 max <<-END
		arm_ac34 midr=0x410fd020
		arm_ac35 midr=0x410fd040
		arm_ac55 midr=0x410fd050
		arm_ac510 midr=0x410fd460
		arm_ac65 midr=0x410fd060
		arm_e1 midr=0x410fd4a0
		arm_ac72 midr=0x410fd080
		arm_ac73 midr=0x410fd090
		arm_ac75 midr=0x410fd0a0
		arm_ac76 midr=0x410fd0b0
		arm_ac77 midr=0x410fd0d0
		arm_ac78 midr=0x410fd410
		arm_ac710 midr=0x410fd470
		arm_x1 midr=0x410fd440
		arm_x2 midr=0x410fd480
		arm_v3 midr=0x410fd840
		arm_ac32 midr=0x410fd010
		arm_ac65ae midr=0x410fd430
		arm_ac76ae midr=0x410fd0e0
		arm_ac78c midr=0x410fd4b0
		arm_ac520 midr=0x410fd800
		arm_ac715 midr=0x410fd4d0
		arm_ac720 midr=0x410fd810
		arm_x1c midr=0x410fd4c0
		arm_x3 midr=0x410fd4e0
		arm_x4 midr=0x410fd820
		arm_v3ae midr=0x410fd830
		arm_c1_nano midr=0x410fd8a0
		arm_c1_pro midr=0x410fd8b0
		arm_c1_ultra midr=0x410fd8c0
		arm_c1_premium midr=0x410fd900
		arm_t410 midr=0x4e0f0100
		arm_ampereone midr=0xc00fac30
		arm_ampereonex midr=0xc00fac40
	END
fi

# Implementer [31:24] and PartNum [15:4] of MIDR_EL1 identify the CPU.
lookups arm64 max <<-END
	arm_ac53 midr=0x410fd034
	arm_ac57 midr=0x411fd070
	arm_n1 midr=0x414fd0c1
	arm_v1 midr=0x411fd401
	arm_n2 midr=0x410fd493
	arm_v2 midr=0x410fd4f1
	arm_n3 midr=0x410fd8e0
	arm_monaka midr=0x461f0030
	arm_thunderx2 midr=0x431f0af1
	arm_a64fx midr=0x461f0010
	arm_kunpeng midr=0x481fd010
	arm_xgene midr=0x500f0001
END

for arch in x86_64 arm64; do
	sed "s/.*at most \([0-9]*\): /\1 /" "$tap_dir/$arch" | sort -n | sed -n "\$s/^/# $arch, the most expensive: /p"
done

# A table of another CPU is checked before it is used.  All PMUs of this file have rows that it lacks; its sum holds.
mkdir -p "$tap_dir/host" "$tap_dir/events"
cp build/host/list build/host/encode build/host/fits "$tap_dir/host"
python3 - build/events/intel "$tap_dir/events/intel" <<'END'
import struct
import sys

PMU_BYTES, NROW = 212, 186  # of struct event_pmu, events/table.h
data = bytearray(open(sys.argv[1], "rb").read())
at, size = struct.unpack_from("<II", data, 24)
for pmu in range(at, at + size, PMU_BYTES):
    struct.pack_into("<H", data, pmu + NROW, 4095)
total = 0
for word, in struct.iter_unpack("<Q", data[24:]):
    total = (total ^ word) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
struct.pack_into("<Q", data, 16, total)
open(sys.argv[2], "wb").write(data)
END
for tool in list encode fits; do
	expect "$tool: a damaged table of another CPU" 1 "^$tool: skl: .*/events/intel is damaged: make the image again\$" \
		"$tap_dir/host/$tool" --cpu skl INST_RETIRED.ANY_P
done
expect 'list --cpus: a damaged table' 1 '/events/intel is damaged: make the image again$' "$tap_dir/host/list" --cpus
end
