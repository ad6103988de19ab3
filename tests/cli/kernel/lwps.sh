#!/bin/sh
# Counts of LWPs that run at the same time on several CPUs are those of the LWP, not of its neighbours.  Four LWPs, each in
# a loop of 40,000,000 instructions, are counted by sets of their own, by regions, stat, cputrack and record.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

LOOP=40000000 NLWP=4
OTHER=10000 # at most this many instructions of an LWP are not in its loop

# all NAME WANTED MOST: $tap_dir/counts has NLWP numbers, from WANTED to MOST.
all() {
	# shellcheck disable=SC2016 # awk's fields
	check "$1" awk -v n=$NLWP -v least="$2" -v most="$3" '{ print } $1 < least || $1 > most { wrong = 1 }
		END { exit wrong || NR != n }' "$tap_dir/counts"
}

# lwps_on CPUS words...: boot the program.
lwps_on() {
	scripts/barecpc run --arch "$arch" --accel tcg --payload "$lwps" --smp "$@"
}

for arch in arm64 x86_64; do
	lwps=$tap_dir/lwps
	check "$arch: lwps compiles" scripts/barecpc-cc --arch $arch -O2 -Wall -Wextra -Werror -o "$lwps" tests/cli/programs/kernel/lwps.c -lpayload
	for smp in 2 4; do
		expect "$arch, $smp CPUs: sets" 0 '^barecpc: exit 0' lwps_on $smp -- lwps set
		sed -n 's/^count //p' "$out" >"$tap_dir/counts"
		all "$arch, $smp CPUs: the set of each LWP counts its loop" $LOOP $LOOP
	done
	expect "$arch: regions" 0 '^barecpc: exit 0' lwps_on 4 --env REGION_EVENTS=PAPI_tot_ins:u -- lwps region
	awk '/^loop\/lwp:/ { print $3 }' "$out" >"$tap_dir/counts"
	all "$arch: regions" $LOOP $((LOOP + 100))
	expect "$arch: stat" 0 '^barecpc: exit 0' lwps_on 4 -- stat --per-thread -e PAPI_tot_ins:u lwps
	awk '/PAPI_tot_ins:u/ { for (i = 1; i <= NF; i++) { gsub(",", "", $i); if ($i + 0 > 1000000) print $i } }' \
		"$out" "$err" >"$tap_dir/counts"
	all "$arch: stat --per-thread" $LOOP $((LOOP + OTHER))
	expect "$arch: cputrack" 0 '^barecpc: exit 0' lwps_on 4 -- cputrack -T 0 -c PAPI_tot_ins lwps
	awk '$3 == "lwp_exit" && $4 > 1000000 { print $4 }' "$out" >"$tap_dir/counts"
	all "$arch: cputrack" $LOOP $((LOOP + OTHER))
	expect "$arch: record" 0 '^barecpc: exit 0' lwps_on 2 --results "$tap_dir/records" -- record -e PAPI_tot_ins -c 1000003 lwps
	samples=$(sed -n 's/.*"samples":\([0-9]*\).*/\1/p' "$tap_dir/records" | head -n 1)
	check "$arch: record takes a sample for each period" test "${samples:-0}" -ge $((NLWP * (LOOP / 1000003))) -a \
		"${samples:-0}" -le $((NLWP * ((LOOP + OTHER) / 1000003 + 1)))
done
end
