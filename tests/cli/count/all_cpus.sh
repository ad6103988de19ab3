#!/bin/sh
# The counters of stock QEMU for arm64 count what all CPUs retire.  The boot proof finds it: with more than one CPU
# nothing is counted, and each tool says why.  With one CPU, and in the patched QEMU, counts are exact.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

why='the counters of this machine count what all CPUs retire: boot one CPU'
stock() {
	smp=$1
	shift
	scripts/barecpc run --arch arm64 --accel tcg --qemu stock --smp "$smp" "$@"
}

# refused NAME STATUS words...: the tool says why nothing is counted.
refused() {
	name=$1
	# shellcheck disable=SC2086
	expect "two CPUs: $name" "$2" "^pcbe: $why" stock 2 --results "$tap_dir/records" --payload "$tap_dir/regions" -- "$3" $4
	check "two CPUs: $name gives the reason" sh -c "cat '$out' '$err' | grep -v '^pcbe:' | grep -q '$why'"
}

scripts/barecpc-cc --arch arm64 -O2 -DLIKWID_PERFMON -o "$tap_dir/regions" tests/cli/regions/regions.c -lpayload
expect 'four CPUs' 77 "^pcbe: $why" stock 4 -- spin
check 'four CPUs: the line comes once' test "$(grep -c "^pcbe: $why" "$err")" = 1
check 'four CPUs: every row is not supported' test \
	"$(grep -c '^spin.*<not supported>' "$out") $(grep -c '^spin/pic' "$out")" = '18 0'
refused spin 77 spin ''
check 'two CPUs: the record of the machine says so' grep -q '"counts_all_cpus":true' "$tap_dir/records"
check 'two CPUs: the record of a row gives the reason' grep -q "\"reason\":\"[^\"]*$why" "$tap_dir/records"
refused stat 77 stat spin
refused record 77 record spin
refused regions 77 regions ''
refused cputrack 1 cputrack '-c PAPI_tot_ins spin'
refused cpustat 1 cpustat '-c PAPI_tot_ins 1 1'
expect 'two CPUs: the witness' 125 "^witness: $why" stock 2 --append witness=both -- spin
expect 'of two CPUs one' 0 '^barecpc: exit 0' stock 2 --append cpus=1 -- spin
check 'of two CPUs one: each count is exact' test "$(grep -cE '^spin/pic[0-5] +PAPI_tot_ins:u +4000 ' "$out")" = 6
if scripts/qemu-pmu --built; then
	expect 'patched QEMU, four CPUs' 0 '^barecpc: exit 0' scripts/barecpc run --arch arm64 --accel tcg --smp 4 -- spin
	check 'patched QEMU, four CPUs: each count is exact' test \
		"$(grep -cE '^spin/pic[0-5] +PAPI_tot_ins:u +4000 ' "$out")" = 6
else
	skip 'patched QEMU' 'scripts/qemu-pmu --path arm64 would have to build it first'
fi
end
