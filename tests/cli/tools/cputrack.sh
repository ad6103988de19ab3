#!/bin/sh
# cputrack and cpustat print what Solaris's programs print, to the column.  Their exit statuses and messages are those of the contract.
# Without busybox-static the example with ls is skipped.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

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

# boots NAME STATUS OPTION...: run the lines of standard input, in one boot.
boots() {
	cat >"$tap_dir/suite"
	name=$1
	status=$2
	shift 2
	scripts/mkcpio -o "$tap_dir/tools.cpio" "$tap_dir/suite" "$tap_dir/spin_target" "build/$arch/tests/pctx_driver"
	expect "$arch: $name: status $status" "$status" "^barecpc: exit $status" \
		scripts/barecpc run --arch $arch --accel tcg --payload "$tap_dir/tools.cpio" "$@"
	cp "$out" "$tap_dir/rows"
}

# said MESSAGE...: a program printed each of these lines.
said() {
	for message; do
		check "$arch: $message" grep -qxF -e "$message" "$err"
	done
}

# same NAME: $tap_dir/got is what standard input has.
same() {
	cat >"$tap_dir/wanted"
	check "$arch: $1" diff "$tap_dir/wanted" "$tap_dir/got"
}

# rows_are NAME: $tap_dir/rows is what standard input has, but for the numbers.
rows_are() {
	mask <"$tap_dir/rows" >"$tap_dir/got"
	mask >"$tap_dir/wanted"
	check "$arch: $1" diff "$tap_dir/wanted" "$tap_dir/got"
}

# judge NAME PROGRAM: the awk program accepts the rows of $tap_dir/rows.  n counts the titles so far.
judge() {
	check "$arch: $1" awk '/ event /{ n++; next } '"$2" "$tap_dir/rows"
}

# TOOL-TRK-02, TOOL-TRK-03, TOOL-STAT-02, TOOL-STAT-03
rows_and_messages() {
	boots 'rows and messages' 1 --out "track.txt=$tap_dir/track.txt" --out "fork.txt=$tap_dir/fork.txt" <<'END'
cputrack -c PAPI_tot_ins,PAPI_tot_cyc -T 0.005 -N 2 -v -t spin_target spin 30000000
cputrack -c PAPI_tot_ins -c PAPI_tot_cyc,sys -T 0.005 -N 2 spin_target spin 30000000
cputrack -v -c PAPI_tot_ins -T 0 spin_target lwp 1000
cputrack -n -c PAPI_tot_ins -T 0 spin_target exec spin 1000
cputrack -n -e -c PAPI_tot_ins -T 0 spin_target exec spin 1000
cputrack -n -c PAPI_tot_ins -T 0 -o track.txt spin_target spin 1000
cputrack -n -c PAPI_tot_ins -T 0 -o track.txt spin_target spin 3000
cputrack -f -c PAPI_tot_ins -T 0 -o fork.txt spin_target fork 1000
cpustat -c PAPI_tot_ins 0.01 2
cpustat -t -c PAPI_tot_ins,sys -c PAPI_tot_cyc 0.01 2
cpustat -c PAPI_tot_ins -c PAPI_tot_cyc 0.01 1
cputrack -n -T 0.01 -c PAPI_tot_ins spin_target spin 30000000 & cpustat -n -c PAPI_tot_ins 0.05 1
cputrack -n -T 0 -c PAPI_tot_ins spin_target spin 30000000 & cpustat -n -c PAPI_tot_ins 0.05 1
cpustat -n -c PAPI_tot_ins 0.05 1 & cputrack -n -c PAPI_tot_ins spin_target spin 30000000
cputrack -c PAPI_tot_ins -o /dev/none spin_target
cputrack -c pic0=PAPI_tot_ins,pic0=PAPI_tot_cyc spin_target
cputrack -c pic0= spin_target
cputrack -c pic0=0 spin_target
cputrack -c foo=1 spin_target
cputrack -c PAPI_tot_ins nonesuch
cputrack -D -n -c PAPI_tot_ins nonesuch
cputrack -c PAPI_tot_ins -p 12345
cputrack -c PAPI_tot_ins
cputrack -c PAPI_tot_ins -p 1 spin_target
cputrack spin_target
cputrack -c PAPI_tot_ins -T 0.0001 spin_target
cputrack -c PAPI_tot_ins -N 2.5 spin_target
cpustat
cpustat -c PAPI_tot_ins 0
cpustat -c PAPI_tot_ins 1 0
cpustat -c PAPI_tot_ins 1x
cpustat -c PAPI_tot_ins -T x
cpustat -c PAPI_tot_ins -p 1 2
END
	rows_are 'the rows are those of Solaris, to the column' <<END
$(
		title 10 lwp "$tick" 1
		for event in init_lwp tick tick; do printf '%7.3f %3d %10s %9d %9d %9d \n' 1 1 $event 0 0 0; done
		title 10 lwp
		track tick ' # PAPI_tot_ins'
		track tick ' # PAPI_tot_cyc,sys'
		title 10 lwp
		for event in init_lwp init_lwp lwp_create fini_lwp lwp_exit fini_lwp exit; do track $event; done
		for last in '' exit; do
			track exec
			printf '%7.3f %3d %10s %9s %9s # %s\n' 1 1 exec '' '' "'spin_target spin 1000'"
			[ -z "$last" ] || track "$last"
		done
		title 5 cpu
		stat_row tick
		stat_row tick
		stat_row total
		title 5 cpu "$tick"
		stat_row tick t ' # PAPI_tot_ins,sys'
		stat_row tick t ' # PAPI_tot_cyc'
		stat_row total t ' # PAPI_tot_ins,sys'
		stat_row total t ' # PAPI_tot_cyc'
		title 5 cpu # the second set had no turn
		stat_row tick '' ' # PAPI_tot_ins'
		stat_row total '' ' # PAPI_tot_ins'
		for _ in 1 2 3; do
			stat_row tick
			stat_row total
		done
		title 10 lwp # of a program that does not exist
		title 10 lwp # of a process that does not exist
	)
END
	# TOOL-TRK-01: 2,000 turns of two instructions more.
	# shellcheck disable=SC2016
	check "$arch: the counts of two runs differ by just their loops" awk \
		'{ n[NR] = $4 } END { exit NR == 2 && n[2] - n[1] == 4000 ? 0 : 1 }' "$tap_dir/track.txt"
	# The copy of cputrack that follows the child has a file of its own, which ends first.
	sed 's/# [0-9]*$/# child/' "$tap_dir/fork.txt" >"$tap_dir/rows"
	rows_are 'the rows of two processes' <<END
$(
		printf '%7.3f %6d %3d %10s %9s %9s # child\n' 1 1 1 fork '' ''
		printf '%7.3f %6d %3d %10s %9d \n' 1 1 1 exit 0
		printf '%7s %6s %3s %10s %8s%-2d \n' time pid lwp event pic 0
		printf '%7.3f %6d %3d %10s %9d \n' 1 1 1 exit 0
	)
END
	# TOOL-SPEC-02, TOOL-STAT-05
	said "cputrack: repeated 'pic0' token" "cputrack: missing 'pic0' value" "cputrack: bad token 'foo=1'" \
		"cputrack: pic0 cannot measure event '0' on this cpu" \
		"cputrack: cannot find program 'nonesuch'" "cputrack: create: cannot find program 'nonesuch'" \
		"cputrack: failed to start program 'nonesuch'" 'cputrack: failed to capture pid 12345' "cputrack: cannot open '/dev/none' for writing" \
		'cputrack: give -c, and either a command or -p' 'cpustat: give -c, and at most an interval and a count' \
		'cputrack: invalid argument "0.0001"' 'cputrack: invalid argument "2.5"' \
		'cpustat: invalid argument "0"' 'cpustat: invalid argument "1x"' 'cpustat: invalid argument "x"' 'cpustat: -p: the sets take 2 s'
	# A set of a CPU takes the counters from LWPs.
	for message in 'tick: lwp1: perf counter contents invalidated' 'fini_lwp: lwp1: perf counter contents invalidated' \
		"init_lwp: can't bind perf counters to lwp1 - Resource temporarily unavailable"; do
		check "$arch: $message" grep -qE "^ {0,5}[0-9]{1,6}: $message\$" "$err"
	done
	for tool in cputrack cpustat; do
		check "$arch: usage of $tool" grep -q "^usage: $tool -c spec" "$err"
	done
	sed -n 's/^barecpc: .*: exit //p' "$err" | tr '\n' ' ' >"$tap_dir/got"
	# A line of two programs has its own status, after that of the program.
	check "$arch: mistakes have status 2, failures 1" grep -qx '1 1 1 1 1 1 1 2 2 2 2 1 1 1 2 2 2 2 2 2 2 2 2 2 2 ' "$tap_dir/got"
}

# TOOL-STAT-01: a row each 5 s, until the end; the driver sends SIGINT after 12 s.
# shellcheck disable=SC2016 # programs of awk
times_and_soakers() {
	boots 'times and soakers' 0 <<'END'
pctx_driver interrupt cpustat -c PAPI_tot_ins
cpustat -p 0.05 -c PAPI_tot_ins -c PAPI_tot_cyc 0.01 2
cpustat -T u -c PAPI_tot_ins 1 2
cpustat -T d -c PAPI_tot_ins 1 1
pctx_driver spin cputrack -c PAPI_tot_ins -T 0.005 -N 3 -p PID
cpustat -s -c PAPI_tot_ins,nouser,sys -c PAPI_tot_ins 0.01 2
cpustat -s -D -c PAPI_tot_ins,nouser,sys 0.02 1
pctx_driver spin cpustat -s -D -c PAPI_tot_ins,nouser,sys 0.02 1
cpustat -s -D -c PAPI_tot_ins,sys 0.02 1
cpustat -h
END
	judge 'a row each 5 s, then the total' 'n == 1 { t = t " " $1 " " $3 } END { exit t != " 5.000 tick 10.000 tick 10.000 total" }'
	judge 'the rest of a period is idle' 'n == 2 { t = t " " $1 } END { exit t != " 0.010 0.020 0.060 0.070 0.060 0.070" }'
	# The clock begins when the machine does.
	judge 'each row of a tick has its time in seconds' \
		'n == 3 { a[++k] = $1 } END { exit !(k == 5 && a[1] ~ /^[0-9]+$/ && a[3] == a[1] + 1 && a[5] == "2.000") }'
	judge 'and as a date' 'n == 4 { a[++k] = $0 } END { exit !(k == 3 && a[1] ~ /^Thu Jan  1 00:[0-9:]+ [A-Z]+ 1970$/) }'
	judge 'a running process is counted' 'n == 5 && $3 == "tick" && $4 > 4000000 { k++ } END { exit k != 3 }'
	judge 'the soaker rests while a set counts programs' 'n == 6 && $3 == "tick" && / # PAPI_tot_ins$/ { few += $4 < 1000000 } END { exit few != 1 }'
	# arm64's PICs all count all events.
	sed -n '/^usage/,$p' "$out" | expand >"$tap_dir/help"
	check "$arch: the help has a list of events for each PIC, or one for all" \
		grep -q "^        event$([ $arch = arm64 ] && echo '\[0-5\]' || echo 10): " "$tap_dir/help"
	# A name may be longer than a line.
	check "$arch: its lists end before column 76" awk '/event.*: /{ lists = 1 } lists && length > 75 && NF > 1 { exit 1 }' "$tap_dir/help"
	grep -o 'the soaker made .*' "$err" >"$tap_dir/rows"
	# It gets 20 ms of an idle CPU, and nothing of a busy one.
	judge 'the soaker takes idle time only' '{ t[NR] = $4 } END { exit !(NR == 2 && t[1] > 1000000 && t[2] == 0) }'
}

# help_of TOOL: the help, without arguments and blanks at the ends of lines.
help_of() {
	cat <<END
usage: $1

	CPU performance counter interface: Software PMU (pmu=software,instructions=0x5,cycles=0xa)

	event specification syntax:
	[picn=]<eventn>[,attr[n][=<val>]][,[picn=]<eventn>[,attr[n][=<val>]],...]

	Generic Events:

$(printf '\tevent%d:\n' 0 1 2 3)

	See generic_events(3CPC) for descriptions of these events

	Platform Specific Events:

	event0: branches instructions
	event1: branches cycles
	event2: branches instructions
	event3: branches cycles

	attributes: umask cmask anythr nouser sys

	See docs/boot.md, "The software PMU": no event of this CPU is
        counted
END
}

# Instructions count only as the target says: 1,000 of programs, 10,000 of the kernel.  With umask=n each counts n more.
# PICs 0 and 2 count instructions, PICs 1 and 3 cycles, 3 for each instruction.
# TOOL-SPEC-01, TOOL-SPEC-03, TOOL-SPEC-04, TOOL-STAT-04
specifications() {
	boots 'specifications' 2 --smp 2 --append pmu=software,instructions=0x5,cycles=0xa --append cpc_cpu=no <<'END'
cputrack -n -T 0 -c instructions,cycles spin_target retire 1000
cputrack -n -T 0 -c instructions,cycles,nouser,sys spin_target retire 1000
cputrack -n -T 0 -c instructions,cycles,sys=0,nouser1=0 spin_target retire 1000
cputrack -n -T 0 -c instructions,cycles,sys1,nouser0 spin_target retire 1000
cputrack -n -T 0 -c umask1,instructions,cycles,umask0=0x4 spin_target retire 1000
cputrack -n -T 0 -c instructions,umask spin_target retire 1000
cputrack -n -T 0 -c pic3=cycles,pic2=instructions spin_target retire 1000
cputrack -T 0 -c cycles,instructions,cycles,instructions spin_target retire 1000
cputrack -T 0 -c instructions,umask=zz spin_target retire 1000
cputrack -T 0 -c instructions,umask= spin_target retire 1000
cputrack -n -T 0 -c instructions,umask=0x100 spin_target retire 1000
cputrack -D -n -T 0 -c instructions,umask=0x100 spin_target retire 1000
cpustat -n -c instructions 0.01 1
cputrack -h
cpustat -h
END
	# shellcheck disable=SC2016
	awk '/ exit /{ print $4, $5 }' "$out" >"$tap_dir/got"
	same 'the counts of each specification' <<'END'
1000 3000
10000 30000
11000 30000
0 33000
5000 4000
2000 
1000 3000
END
	said "cputrack: pic4 cannot measure event 'instructions' on this cpu" \
		"cputrack: invalid value 'zz' for attribute 'umask'" "cputrack: invalid value '' for attribute 'umask'" \
		'cputrack: Attribute out of range' 'cputrack: cpc_bind_pctx: Attribute out of range' \
		'cpustat: cpu0 - Permission denied: boot with cpc_cpu=yes' \
		'cpustat: cpu1 - Permission denied: boot with cpc_cpu=yes' 'barecpc: cpustat: exit 1'
	# TOOL-STAT-05: without the privilege, too.
	sed -n '/^usage/,$p' "$out" | sed 's/^\(usage: [a-z]*\) -c .*/\1/; s/ $//' >"$tap_dir/got"
	for tool in cputrack cpustat; do
		help_of $tool
	done >"$tap_dir/wanted"
	check "$arch: the help" diff "$tap_dir/wanted" "$tap_dir/got"
}

# TOOL-STAT-02: two rows for each CPU, and their sum.
sums() {
	boots 'two CPUs' 0 --smp 2 <<'END'
cpustat -n -c PAPI_tot_ins 0.01 2
END
	# shellcheck disable=SC2016
	check "$arch: the total is the sum of all rows" awk '$3 == "tick" { rows[$2]++; sum += $4 }
		$3 == "total" { good = $2 == 2 && $4 == sum && sum > 0 } END { exit !(NR == 5 && good && rows[0] == 2 && rows[1] == 2) }' \
		"$tap_dir/rows"
}

# CPUs 0 and 1 are soft_core, CPUs 2 and 3 soft_atom: a set has rows for the CPUs of its type, and counts there.
core_types() {
	boots 'core types' 0 --smp 4 --append pmu=software,pics=6,pics2=4,branches=0 <<'END'
cpustat -n -c soft_atom/branches/ 0.01 1
cpustat -n -c instructions -c soft_core/cycles/ 0.01 2
cputrack -n -T 0 -c soft_atom/branches/ spin_target retire 1000
list branch
fits soft_core/instructions/,instructions,instructions,instructions,instructions
END
	# shellcheck disable=SC2016
	awk '$3 ~ /^(tick|total|exit)$/ { print $2, $3, $4 }' "$out" | LC_ALL=C sort >"$tap_dir/got"
	same 'a set of a core type counts on its CPUs' <<'END'
0 tick 0
0 tick 0
1 exit 250
1 tick 0
1 tick 0
2 tick 0
2 tick 0
2 total 0
3 tick 0
3 tick 0
4 total 0
4 total 0
END
	check "$arch: list has the events of one core type" grep -q '^soft_atom/branches/ ' "$out"
	check "$arch: six PICs of one type fit five events" grep -q '^soft_core/instructions/ *PIC ' "$out"
}

# CPU 0 counts for the CPU that shares its PMU, on which the driver retires instructions.
siblings() {
	boots 'Pentium 4' 0 --smp 2 --append pmu=software,shape=p4 <<'END'
pctx_driver retire cpustat -n -c instr_retired,emask 0.05 1
pctx_driver retire cpustat -n -c pic12=instr_retired,pic14=instr_retired,emask,sys,nouser14 0.05 1
END
	sed 's/ *$//' "$out" >"$tap_dir/got"
	same 'one CPU counts for two' <<'END'
  0.050   0  tick      1000
  0.050   1 total      1000
  0.050   0  tick     11000     10000
  0.050   1 total     11000     10000
END
}

# One CPU of two that share a PMU has a set.  The other stops, and LWPs have none.
shared_pmu() {
	boots 'a shared PMU' 1 --smp 2 --append pmu=software,shared=siblings <<'END'
cpustat -n -c instructions 0.01 2
cputrack -n -c instructions spin_target spin 1000
END
	said 'cpustat: cpu1 - Permission denied'
	rows_are 'the other CPU goes on' <<END
$(for word in tick tick total; do stat_row $word; done)
END
	check "$arch: LWPs do not count" grep -qE "init_lwp: can't bind perf counters to lwp1 - Permission denied\$" "$err"
}

without_pmu() {
	set -- --qemu stock
	[ $arch = x86_64 ] || set -- --cpu max,pmu=off
	boots 'no PMU' 1 "$@" <<'END'
cputrack -c PAPI_tot_ins spin_target
cpustat -h
END
	said 'cputrack: cannot access performance counter library - Function not implemented' \
		'cpustat: cannot access performance counters - Function not implemented'
}

# shown COMMAND: print what docs/coming-from.md shows below the first command line that has COMMAND.
shown() {
	sed 's/^    //; t; s/.*//' docs/coming-from.md | awk -v command="$1" '/^\$/ { ours = index($0, command) } !/^\$/ && ours { if ($0 == "") exit; print }'
}

# example COMMAND: the page's output of the command has the form of the output here.
example() {
	shown "$1" >"$tap_dir/shown"
	command=$1
	shift
	# shellcheck disable=SC2086 # the command's words
	expect "$arch: $command" 0 '^barecpc: exit 0' scripts/barecpc run --arch $arch --accel tcg "$@" -- $command
	sed 's/ *$//' "$out" | mask >"$tap_dir/got"
	mask <"$tap_dir/shown" >"$tap_dir/wanted"
	check "$arch: docs/coming-from.md shows its output" diff "$tap_dir/wanted" "$tap_dir/got"
}

examples() {
	busybox=$(scripts/setup --cache)/busybox-static-$([ $arch = arm64 ] && echo arm64 || echo amd64)
	# Debian 13 has no file below /bin.
	[ -e "$busybox/bin/busybox" ] || busybox=$busybox/usr
	busybox=$busybox/bin/busybox
	if cp "$busybox" "$tap_dir/ls"; then
		example 'cputrack -c PAPI_tot_ins,PAPI_tot_cyc ls' --payload "$tap_dir/ls"
	else
		skip "$arch: cputrack of ls" 'no busybox-static here; try scripts/setup --optional'
	fi
	example 'cpustat -c PAPI_tot_ins,sys 1 3'
}

# An exec(2) that fails ends no LWP: its row has all that the process counted.
failed_exec() {
	cat >"$tap_dir/failing.c" <<'END'
#include <unistd.h>
#include "tests/cli/programs/turns.h"
int
main(void)
{
	for (int i = 0; i < 3; i++) {
		make_turns(1000000);
		execl("/none", "none", (char *)0);
	}
	return 0;
}
END
	scripts/barecpc-cc --arch $arch -O2 -I. -o "$tap_dir/failing" "$tap_dir/failing.c"
	expect "$arch: cputrack of a program whose exec(2) fails" 0 '^barecpc: exit 0' scripts/barecpc run --arch $arch --accel tcg \
		--payload "$tap_dir/failing" -- cputrack -n -v -T 0 -c PAPI_tot_ins failing
	cp "$out" "$tap_dir/rows"
	# shellcheck disable=SC2016
	judge 'its LWP has all counts of its process' '$3 == "fini_lwp" { lwp = $4 } $3 == "exit" { all = $4 }
		END { exit !(lwp == all && all >= 6000000) }'
}

# A set bound before the barrier does not count what its CPU does until the other CPUs have bound theirs.
first_turn() {
	expect "$arch: cpustat with two sets on four CPUs" 0 '^barecpc: exit 0' scripts/barecpc run --arch $arch --accel tcg --smp 4 \
		-- cpustat -n -c PAPI_tot_ins,sys -c PAPI_tot_cyc,sys 0.01 4
	cp "$out" "$tap_dir/rows"
	# shellcheck disable=SC2016
	judge 'its first turn counts what the third does' '$2 == 0 && $3 == "tick" { n_ins[i++] = $4 }
		END { exit !(i == 4 && n_ins[0] > 0 && n_ins[0] < 2 * n_ins[2]) }'
}

for arch in arm64 x86_64; do
	cp build/$arch/tests/pctx_target "$tap_dir/spin_target"
	tick=$([ $arch = arm64 ] && echo pmccntr || echo tsc)
	rows_and_messages
	times_and_soakers
	specifications
	sums
	core_types
	siblings
	shared_pmu
	failed_exec
	first_turn
	without_pmu
	examples
done
end
