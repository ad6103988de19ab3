#!/bin/sh
# The program vpmu passes on a PMU that is right, fails the right point on one that is not, and ends with 77 without one.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# vpmu NAME STATUS POINTS options... -- vpmu [arguments]: run it; TAP of so many points comes out.
vpmu() {
	name=$1
	status=$2
	points=$3
	shift 3
	expect "$name: the status" "$status" '^barecpc: exit' scripts/barecpc run --accel tcg "$@"
	check "$name: the plan" grep -qx "1\.\.$points" "$out"
	check "$name: the points" test "$(grep -cE '^(not )?ok [0-9]+ - ' "$out")" = "$points"
}

# fails NAME POINT NUMBER: these points failed, and no other.
fails() {
	check "$1: $2 fails" test "$(grep -cE "^not ok [0-9]+ - $2\$" "$out")" = "$3"
	check "$1: nothing else fails" test "$(grep -c '^not ok' "$out")" = "$3"
}

if scripts/qemu-pmu --built; then
	# Six PICs with 16 points each and 17 of the PMU; 11 PICs, three of them fixed, and 15 of the PMU.
	vpmu 'arm64' 0 113 --arch arm64 --qemu pmu --smp 2 -- vpmu
	check 'arm64: the LWP moves' grep -qx 'ok [0-9]* - pic5 migration' "$out"
	check 'arm64: another CPU is busy' grep -qx 'ok [0-9]* - pic5 busy_cpu' "$out"
	check 'arm64: the lateness is reported' grep -qE '^# after 1000 counts: late by [0-9]+ to [0-9]+, median [0-9]+$' "$out"
	vpmu 'x86-64' 0 194 --arch x86_64 --cpu intel-v5 --smp 2 -- vpmu
	check 'x86-64: instructions that a hypervisor emulates' grep -qx 'ok [0-9]* - pic8 trapped' "$out"
	for fixed in 0 1 2; do
		check "x86-64: fixed counter $fixed" grep -qx "ok [0-9]* - pic$((8 + fixed)) fixed_event" "$out"
	done
	check 'x86-64: a fixed counter of reference cycles has filters' grep -qx 'ok [0-9]* - pic10 user_filter' "$out"
	vpmu 'AMD' 0 78 --arch x86_64 --cpu amd-legacy -- vpmu -r 3

	# Each event counts what the loops bring.  One count too many in 10,000 passes the proof at boot.
	vpmu 'events, x86-64' 0 5 --arch x86_64 --cpu intel-v5 -- vpmu --events -r 1
	check 'events, x86-64: branches of a loop' grep -qx '# random: 80000' "$out"
	vpmu 'events of a PMU that lies' 1 5 --arch x86_64 --qemu pmu --cpu "$(scripts/qemu-pmu --cpu intel-v2),pmu-lie-extra=10000" \
		-- vpmu --events -r 1
	fails 'events of a PMU that lies' 'event PAPI_(tot|br)_ins' 2

	# Registers need privileged instructions.
	vpmu 'arm64, registers' 0 113 --arch arm64 --qemu pmu --append priv=system -- vpmu -r 3
	for point in counters reserved_bits counter_write event_write sw_incr status reset cycle_counter; do
		check "arm64, registers: $point" grep -qx "ok [0-9]* - pmu $point" "$out"
	done
	vpmu 'x86-64, registers' 0 130 --arch x86_64 --cpu qemu64,vendor=GenuineIntel,pmu=on,+pdcm,+full-width-write,pmu-version=4,pmu-counters=4 \
		--append priv=system -- vpmu -r 3
	for point in rdpmc_absent reserved_bits counter_write fixed_registers status status_set; do
		check "x86-64, registers: $point" grep -qx "ok [0-9]* - pmu $point" "$out"
	done
	vpmu 'events that are absent' 0 113 --arch arm64 --qemu pmu --append models=any -- vpmu -r 3
	check 'events that are absent: they are counted' grep -qx 'ok [0-9]* - pmu events_absent' "$out"

	# Without -icount the emulator has no INST_RETIRED and no INST_SPEC, which the architecture requires.
	expect 'a required event is absent' 1 '^barecpc: exit 1' scripts/barecpc run --accel tcg --arch arm64 --qemu pmu \
		--no-icount -- vpmu -r 3
	check 'a required event is absent: its point fails' grep -qx 'not ok [0-9]* - pmu events_required' "$out"
else
	skip 'vpmu on the patched QEMU' 'scripts/qemu-pmu --path x86_64 would have to build it first'
fi

# A real vPMU, in minutes: the KVM of a Linux in emulation (docs/vpmu.md).
if [ "${BARECPC_CAMPAIGN-}" = yes ]; then
	expect 'KVM on arm64' 0 '^barecpc: exit 0' scripts/barecpc run --arch arm64 --accel nested-kvm --smp 2 --load 1 \
		--timeout 1200 -- vpmu
	check 'KVM on arm64: the LWP moves' grep -qx 'ok [0-9]* - pic5 migration' "$out"
	expect 'KVM on arm64, registers' 0 '^barecpc: exit 0' scripts/barecpc run --arch arm64 --accel nested-kvm \
		--append priv=system --timeout 1200 -- vpmu
	check 'KVM on arm64, registers: the width' grep -qx 'ok [0-9]* - pic5 width' "$out"
	expect 'KVM on AMD' 0 '^barecpc: exit 0' scripts/barecpc run --arch x86_64 --accel nested-kvm --timeout 1200 -- vpmu
	check 'KVM on AMD: instructions that KVM emulates' grep -qx 'ok [0-9]* - pic5 trapped' "$out"
fi

# Each event that the machine offers counts what the loops bring.
vpmu 'events' 0 5 --arch arm64 --qemu stock -- vpmu --events -r 1
check 'events: the instructions of a loop' grep -qx '# load: 120000' "$out"

# The distribution's QEMU loses the overflow interrupt of a PIC.  The kernel gets it by a second PIC: none is left here.
vpmu 'lost interrupts' 1 113 --arch arm64 --qemu stock -- vpmu -r 3
fails 'lost interrupts' 'pic[0-5] overflow' 6

# Its counters count what all CPUs retire: one line, and nothing is counted.
expect 'counts of all CPUs' 1 '^barecpc: exit 1' scripts/barecpc run --accel tcg --arch arm64 --qemu stock --smp 2 -- vpmu
check 'counts of all CPUs: the one point' grep -qx 'not ok 1 - pmu busy_cpu' "$out"
check 'counts of all CPUs: the plan' grep -qx '1\.\.1' "$out"

# junit NAME TESTS FAILURES SKIPPED: the output is XML with these totals and elements.
junit() {
	check "$1" python3 -c '
import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot()
names = {(c.get("classname"), c.get("name")) for c in suite}
found = (len(names), len(suite.findall("*/failure")), len(suite.findall("*/skipped")))
totals = tuple(int(suite.get(n)) for n in ("tests", "failures", "skipped"))
print(found, totals)
sys.exit(not (found == totals == tuple(map(int, sys.argv[2:]))))' "$out" "$2" "$3" "$4"
}
expect 'JUnit and TAP' 1 '^barecpc: exit 1' scripts/barecpc run --accel tcg --arch arm64 --qemu stock -- vpmu --junit --tap -r 1
check 'JUnit and TAP: the points' test "$(grep -cE '^(not )?ok [0-9]+ - ' "$out")" = 113
check 'JUnit and TAP: the plan' grep -qx '1\.\.113' "$out"
sed -i -n '/^<?xml /,$p' "$out"
junit 'JUnit and TAP: the cases' 113 6 30
expect 'JUnit without a PMU' 77 '^barecpc: exit 77' scripts/barecpc run --accel tcg --arch arm64 --cpu max,pmu=off -- vpmu --junit
junit 'JUnit without a PMU: the case' 1 0 1

# nothing NAME REASON options...
nothing() {
	name=$1
	reason=$2
	shift 2
	expect "$name: the status" 77 '^barecpc: exit 77' scripts/barecpc run --accel tcg "$@" -- vpmu
	check "$name: the reason" grep -qE "^1\.\.0 # SKIP $reason" "$out"
}
nothing 'x86-64 without a PMU' 'PMU absent: ' --arch x86_64 --qemu stock
expect 'vpmu in stat: the status' 77 "" scripts/barecpc stat --accel tcg --arch arm64 vpmu
check 'vpmu in stat: the reason' grep -q '^1\.\.0 # SKIP the counters are in use, by stat or record ' "$out"
nothing 'arm64, software PMU' 'the PMU is software' --arch arm64 --append pmu=software,papi=yes
nothing 'x86-64, software PMU' 'the PMU is software' --arch x86_64 --qemu stock --append pmu=software,papi=yes
end
