#!/bin/sh
# Regions count exactly what is in them, for each LWP; programs for PAPI and likwid compile unchanged.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# value ROW: the count of a row.
value() {
	awk -v row="$1" '$1 == row && $2 == "PAPI_tot_ins:u" { print $3 }' "$out"
}

# near VALUE WANTED: VALUE is WANTED and at most 30 instructions more, which pass arguments and check results.
near() {
	test "$1" -ge "$2" && test "$1" -le $(($2 + 30))
}

for arch in arm64 x86_64; do
	dir=$tap_dir/$arch
	mkdir "$dir"
	for name in regions with_papi with_likwid; do
		check "$arch: $name compiles" scripts/barecpc-cc --arch $arch -O2 -Wall -Wextra -Werror -DLIKWID_PERFMON \
			-o "$dir/$name" tests/cli/regions/$name.c -lpayload
		echo $name >>"$dir/suite"
	done
	scripts/mkcpio -o "$dir/all.cpio" "$dir/suite" "$dir/regions" "$dir/with_papi" "$dir/with_likwid"
	expect "$arch: they run" 0 'barecpc: exit 0' scripts/barecpc run --arch $arch --accel tcg --payload "$dir/all.cpio" \
		--env PAPI_EVENTS=PAPI_TOT_INS --results "$dir/r.jsonl"
	inner=$(value inner/lwp:1) outer=$(value outer/lwp:1)
	check "$arch: a region" near "$inner" 2000
	check "$arch: a region around it, without what marks cost" near "$outer" 6000
	check "$arch: another LWP, three times as often: the same for each turn" test \
		"$(value inner/lwp:2)" = $((3 * (inner + 2000)))
	check "$arch: the same around it" test "$(value outer/lwp:2)" = $((3 * (outer + 6000)))
	check "$arch: regions that overlap" near "$(sed -n 's/^a less b: //p' "$out")" 200
	check "$arch: mistakes, once each" test "$(grep -c '^regions: region "\(twice\|unknown\)": ' "$err")" = 2
	check "$arch: each is refused" sh -c "! grep -E 'twice\$|^an unknown|^reset' '$out'"
	check "$arch: a region without an end" grep -qF 'regions: region "open": has not ended: ' "$err"
	check "$arch: PAPI's region" near "$(value computation)" 4000
	check "$arch: likwid's region" near "$(value Compute)" 4000
	check "$arch: likwid's region after the close: one line" test "$(grep -c '"Late": comes after the results, and is not counted' "$err")" = 1
	check "$arch: likwid's values" grep -qx "1 events, 4 calls, $(value Compute)" "$out"
	check "$arch: records" test "$(grep -c '"label":"\(inner\|outer\)/lwp:[12]"' "$dir/r.jsonl")" = 4
done
# run_events NAME EVENTS STATUS PATTERN program: run it on arm64, whose 6 PICs count instructions.
run_events() {
	expect "$1" "$3" "$4" scripts/barecpc run --arch arm64 --accel tcg --payload "$tap_dir/arm64/$5" --env "PAPI_EVENTS=$2" -- "$5"
}
nothing='^[a-z_]*: regions: LWP 1 counts nothing: no_such: Unknown event'
run_events 'no event that can be counted' no_such 1 "$nothing" with_papi
check 'PAPI_ENOTRUN' grep -q 'PAPI error -9: ' "$err"
run_events 'nothing counted is no success' no_such 77 "$nothing" regions
run_events 'the events that can be counted are, without their blanks and an empty name' ' no_such,PAPI_TOT_INS , ' 0 \
	'^with_papi: PAPI_EVENTS: an event without a name is left out$' with_papi
check 'with the right count' near "$(value computation)" 4000
check 'the other row says why' sh -c "grep -q '^computation  *no_such:u  *<not supported>' '$out' &&
	grep -q '^# <not supported>: no_such: Unknown event' '$out'"
ins=PAPI_TOT_INS
run_events 'more events than fit' $ins,$ins,$ins,$ins,$ins,$ins,$ins 0 '^barecpc: exit 0$' with_papi
check 'six are counted' test "$(value computation | sort | uniq -c | awk '{ print $1 }' | sort -n | tail -n 1)" = 6
check 'the seventh row says why' grep -q '^# <not counted>: the events before it take the counters: give fewer$' "$out"
check 'a program with a set of the CPU compiles' scripts/barecpc-cc --arch arm64 -O2 -Wall -Wextra -Werror -o "$tap_dir/taken" \
	tests/cli/regions/taken.c -lpayload -lcpc
expect 'a set of the CPU takes the counters: the program goes on' 0 '^taken: regions: LWP 1 counts no longer: another set took this' \
	scripts/barecpc run --arch arm64 --accel tcg --payload "$tap_dir/taken" --env PAPI_EVENTS=PAPI_TOT_INS \
	--results "$tap_dir/taken.jsonl" -- taken
check 'region_begin() fails' grep -qx 'begin: -1: Resource temporarily unavailable' "$out"
check 'the region before has its count' near "$(value before)" 2000
check 'the region after has none' grep -q '^after  *PAPI_tot_ins:u  *<not counted>' "$out"
check 'the record has 31 runs of an empty region, whose median is subtracted' python3 -c "
import json
cost = json.loads(open('$tap_dir/taken.jsonl').readline())['region_cost']
assert len(cost['raw']) == 31 and cost['min'] <= cost['median'] == sorted(cost['raw'])[15] <= cost['max'] and cost['median'] > 0"
expect 'without counters' 77 '^barecpc: exit 77$' scripts/barecpc run --arch arm64 --accel tcg --cpu max,pmu=off \
	--payload "$tap_dir/taken" -- taken
check 'region_begin() fails there, too' grep -qx 'no counters: Not supported' "$out"
check 'without LIKWID_PERFMON the macros are empty' scripts/barecpc-cc --arch arm64 -O2 -o "$tap_dir/plain" \
	tests/cli/regions/with_likwid.c
end
