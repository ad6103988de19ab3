#!/bin/sh
# x86-64 counts exactly on every PMU of the emulator of scripts/qemu-pmu: Intel's versions 1 to 6, AMD's kinds.
# There an instruction takes two core cycles and one reference cycle.  So cycles are exact, and a PIC that counts the
# wrong event is noticed.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

SHORT=1000 LONG=123456
INSTRUCTIONS=$((2 * (LONG - SHORT)))

if ! scripts/qemu-pmu --built; then
	skip 'x86-64 counts' 'scripts/qemu-pmu --path x86_64 would have to build it first'
	end
	exit
fi

# The tests of the image that use the PMU, or all of them.
archive=pmu.cpio
[ "${BARECPC_CAMPAIGN-}" != yes ] || archive=tests.cpio

# emulate CPU options...: CPU is a model of qemu-pmu, or a value for QEMU's -cpu.
emulate() {
	cpu=$1
	shift
	scripts/barecpc run --arch x86_64 --accel tcg --qemu pmu --cpu "$cpu" --timeout 600 "$@"
}

# rows NAME PICS COUNT PRIVILEGE: the table in $out has PICS PICs with three filters each.  The count is COUNT if the
# program's own privilege is counted, else 0.
rows() {
	awk -v n="$3" -v own="$4" '$1 ~ /^spin/ {
		want = $2 ~ ":.*" own ? n : 0
		if ($3 != want || $7 != 0) print
	}' "$out" >"$tap_dir/wrong"
	check "$1: every row is exact" diff "$tap_dir/wrong" /dev/null
	check "$1: $2 PICs" test "$(grep -c '^spin/pic' "$out")" = $((3 * $2))
}

# exact MODEL INSTRUCTION_PICS CYCLE_PICS CPUS
exact() {
	for own in u k; do
		privilege=$([ $own = u ] && echo user || echo system)
		expect "$1, $privilege, $4 CPU(s)" 0 '^pcbe: overflow interrupt comes' \
			emulate "$1" --smp "$4" --append priv="$privilege" -- spin $SHORT $LONG
		rows "$1, $privilege" "$2" $INSTRUCTIONS $own
	done
	expect "$1, cycles" 0 '^barecpc: exit 0' emulate "$1" -- spin -e PAPI_tot_cyc $SHORT $LONG
	rows "$1, cycles" "$3" $((2 * INSTRUCTIONS)) u
	expect "$1, tests of the image" 0 '^barecpc: exit 0' \
		emulate "$1" --smp "$4" --payload "build/x86_64/$archive"
	check "$1: no point fails" sh -c "! grep -E '^(# .*)?not ok' '$out'"
	check "$1: most points run" test "$(grep -c '^ok' "$out")" -ge 100
}

exact intel-v1 4 4 1
exact intel-v2 5 5 2
exact intel-v3 5 5 1
exact intel-v4 9 9 2
exact intel-v5 9 9 1
exact intel-v6 11 11 2
exact amd-legacy 4 4 1
exact amd-core 6 6 2
exact amd-v2 6 6 1
# Counters whose writes have 32 bits.
exact qemu64,vendor=GenuineIntel,pmu=on,pmu-version=2 5 5 1

expect 'the reference clock' 0 '^barecpc: exit 0' emulate intel-v4 -- spin -e cpu_clk_unhalted.ref $SHORT $LONG
rows 'the reference clock' 1 $INSTRUCTIONS u

# Version 6: a second unit mask makes another event, EQ asks for cycles with exactly one instruction, slots are eight a
# cycle.  Without the emulator's list of events the kernel writes what it is given.
v6="$(scripts/qemu-pmu --cpu intel-v6),tcg-cpuid=off"
expect 'intel-v6, EQ' 0 '^barecpc: exit 0' emulate "$v6" -- spin -e r10010000c0 $SHORT $LONG
rows 'intel-v6, EQ' 10 $INSTRUCTIONS u
expect 'intel-v6, a second unit mask' 0 '^barecpc: exit 0' emulate "$v6" -- spin -e cpu/event=0xc0,umask=0x100/ $SHORT $LONG
rows 'intel-v6, a second unit mask' 10 0 u
expect 'intel-v6, slots' 0 '^barecpc: exit 0' emulate intel-v6 -- spin -e topdown.slots $SHORT $LONG
rows 'intel-v6, slots' 1 $((16 * INSTRUCTIONS)) u

# suite NAME options...: run the default suite, and keep its table and records.
suite() {
	name=$1
	shift
	emulate "$@" --results "$tap_dir/$name.jsonl" >"$tap_dir/$name.txt" 2>"$tap_dir/$name.err" </dev/null
}

for model in intel-v5 amd-v2; do
	check "$model, the suite" suite first "$model" --smp 2
	check "$model, again" suite second "$model" --smp 2
	check "$model: its records are as the schema has them" python3 -B tests/cli/lib/schema.py "$tap_dir/first.jsonl"
	check "$model: prints the same table" cmp "$tap_dir/first.txt" "$tap_dir/second.txt"
	check "$model: leaves the same records" cmp "$tap_dir/first.jsonl" "$tap_dir/second.jsonl"
	check "$model: logs the same" cmp "$tap_dir/first.err" "$tap_dir/second.err"
done
end
