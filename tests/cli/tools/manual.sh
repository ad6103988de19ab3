#!/bin/sh
# Programs written from the manual pages alone (tests/cli/manual) compile as they are, and find the counts that they expect.
# CPC-CPU-01, CPC-CPU-02, CPC-CPU-04, CPC-CPU-08, CPC-CPU-13, CPC-ENA-01, CPC-ENA-05, CPC-ERR-02, CPC-INH-01.
# CPC-INH-05, CPC-INH-06, CPC-INH-08, CPC-INV-01, CPC-OVF-02, CPC-OVF-06, CPC-PCTXB-01, CPC-PCTXB-02, CPC-PRE-03.
# CPC-QRY-04, CPC-REQ-09, CPC-REQ-11, CPC-SMP-01, CPC-SMP-02, CPC-SMP-09, CPC-V1-01, CPC-V1-02, CPC-V1-03, CPC-V1-04.
# CPC-V1-05, CPC-V1-06, CPC-V1-07, CPC-V1-08, CPC-V1-09, CPC-V1-10, CPC-V1-11, CPC-V1-12, PCTX-01, PCTX-04, PCTX-06.
# PCTX-08, PCTX-09, PCTX-11, PCTX-12.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

src=tests/cli/manual

# build ARCH: all programs, and an archive of them with the suite.  index is also the name of a function that gcc knows.
build() {
	mkdir "$tap_dir/$1"
	scripts/barecpc-cc --arch "$1" -c -o "$tap_dir/$1/loop.o" "$src/loop_$1.S" || return
	for file in "$src"/*.c "$src"/v1/*.c; do
		scripts/barecpc-cc --arch "$1" -O2 -Wall -Werror -Wno-builtin-declaration-mismatch \
			-o "$tap_dir/$1/$(basename "$file" .c)" "$file" "$tap_dir/$1/loop.o" || return
	done
	rm "$tap_dir/$1/loop.o"
	cp "$tap_dir/suite" "$tap_dir/$1/suite"
	tests/cli/lib/mkarchive "$tap_dir/$1" "$tap_dir/$1.cpio"
}

# run_all NAME ARCH [option...]: one boot, in which each program prints its verdict.
run_all() {
	name=$1
	arch=$2
	shift 2
	expect "$name: all programs end well" 0 '^barecpc: exit 0' \
		scripts/barecpc run --arch "$arch" --accel tcg "$@" --payload "$tap_dir/$arch.cpio" \
		--out "track.txt=$tap_dir/track.txt"
	for program in $programs; do
		check "$name: $program" grep -x -e "ok $program" "$out"
	done
	grep '^not ok' "$out" | sed 's/^/# /'
	# cpc_count_usr_events(3CPC), Example 1, under cputrack: 2,000 turns of two instructions more.
	# shellcheck disable=SC2016
	check "$name: cputrack counts the marked loop alone" awk \
		'{ n[NR] = $4 } END { exit !(NR == 2 && n[1] > 2000 && n[1] < 3000 && n[2] - n[1] == 4000) }' \
		"$tap_dir/track.txt"
}

programs=$(basename -s .c "$src"/*.c "$src"/v1/*.c | grep -vx target)
for turns in 1000 3000; do
	echo "cputrack -n -c PAPI_tot_ins,nouser -T 0 -o track.txt target marked $turns"
done >"$tap_dir/suite"
echo "$programs" >>"$tap_dir/suite"
for arch in arm64 x86_64; do
	check "$arch: the programs compile" build $arch
	run_all $arch $arch
done
run_all 'x86_64, 2 CPUs' x86_64 --smp 2
run_all 'arm64, 2 CPUs' arm64 --qemu pmu --smp 2
end
