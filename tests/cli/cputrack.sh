#!/bin/sh
# cputrack and cpustat print what Solaris's programs print, to the column.  Their exit statuses and messages are those of the contract.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

cat >"$tap_dir/suite" <<'END'
cputrack -c PAPI_tot_ins,PAPI_tot_cyc -T 0.005 -N 2 -v -t spin_target spin 30000000
cputrack -c PAPI_tot_ins -c PAPI_tot_cyc,sys -T 0.005 -N 2 spin_target spin 30000000
cputrack -c PAPI_tot_ins -T 0 spin_target lwp 1000
cputrack -n -c PAPI_tot_ins -T 0 spin_target exec spin 1000
cputrack -n -c PAPI_tot_ins -T 0 -o track.txt spin_target spin 1000
cputrack -n -c PAPI_tot_ins -T 0 -o track.txt spin_target spin 3000
cpustat -c PAPI_tot_ins 0.01 2
cpustat -t -c PAPI_tot_ins,sys -c PAPI_tot_cyc 0.01 2
cputrack -c pic0=PAPI_tot_ins,pic0=PAPI_tot_cyc spin_target
cputrack -c foo=1 spin_target
cputrack -c PAPI_tot_ins,nouser=2,cmask=zz spin_target
cputrack -c PAPI_tot_ins nonesuch
cpustat
END
# The formats of Solaris's rows.  mask() then replaces each number, and the blanks before it, by as many N.
mask() {
	python3 -c 'import re, sys
for line in sys.stdin:
    print(re.sub(r"(?<![\w.]) *[0-9][0-9.]*(?= |$)", lambda m: "N" * len(m[0]), line.rstrip("\n")))'
}
track() {
	printf '%7.3f %3d %10s %9d %s\n' 1 1 "$1" 0 "${2-}"
}
title() {
	printf '%7s %3s %'"$1"'s ' time "$2" event
	[ -z "${3-}" ] || printf '%9s ' "$3"
	printf '%8s%-2d ' pic 0
	[ -z "${4-}" ] || printf '%8s%-2d ' pic "$4"
	echo
}
stat_row() {
	printf '%7.3f %3d %5s ' 1 0 "$1"
	[ -z "${2-}" ] || printf '%9d ' 0
	printf '%9d %s\n' 0 "${3-}"
}
# TOOL-TRK-02, TOOL-TRK-03, TOOL-STAT-02, TOOL-STAT-03
wanted() {
	title 10 lwp "$1" 1
	for event in init_lwp tick tick; do printf '%7.3f %3d %10s %9d %9d %9d \n' 1 1 $event 0 0 0; done
	title 10 lwp
	track tick ' # PAPI_tot_ins'
	track tick ' # PAPI_tot_cyc,sys'
	title 10 lwp
	track lwp_create
	track lwp_exit
	track exit
	track exec
	printf '%7.3f %3d %10s %9s %9s # %s\n' 1 1 exec '' '' "'spin_target spin 1000'"
	title 5 cpu
	stat_row tick
	stat_row tick
	stat_row total
	title 5 cpu "$1"
	stat_row tick t ' # PAPI_tot_ins,sys'
	stat_row tick t ' # PAPI_tot_cyc'
	stat_row total t ' # PAPI_tot_ins,sys'
	stat_row total t ' # PAPI_tot_cyc'
	title 10 lwp # of the program that does not exist
}
for arch in arm64 x86_64; do
	cp build/$arch/tests/pctx_target "$tap_dir/spin_target"
	scripts/mkcpio -o "$tap_dir/tools.cpio" "$tap_dir/suite" "$tap_dir/spin_target"
	expect "$arch: the suite ends with the status of a wrong command line" 2 '^barecpc: exit 2' \
		scripts/barecpc run --arch $arch --accel tcg --payload "$tap_dir/tools.cpio" --out "track.txt=$tap_dir/track.txt"
	mask <"$out" >"$tap_dir/got"
	wanted "$([ $arch = arm64 ] && echo pmccntr || echo tsc)" | mask >"$tap_dir/wanted"
	check "$arch: the rows are those of Solaris, to the column" diff "$tap_dir/wanted" "$tap_dir/got"
	# TOOL-TRK-01: 2,000 turns of two instructions more.
	# shellcheck disable=SC2016
	check "$arch: the counts of two runs differ by just their loops" awk \
		'{ n[NR] = $4 } END { exit NR == 2 && n[2] - n[1] == 4000 ? 0 : 1 }' "$tap_dir/track.txt"
	# TOOL-SPEC-02, TOOL-SPEC-04, TOOL-STAT-05
	for message in "repeated 'pic0' token" "bad token 'foo=1'" "failed to start program 'nonesuch'"; do
		check "$arch: $message" grep -qF "cputrack: $message" "$err"
	done
	check "$arch: usage of cpustat" grep -q '^usage: cpustat -c spec' "$err"
done
end
