#!/bin/sh
# The benchmarks' command line: accepted and refused words, and the output.
# shellcheck disable=SC2086 # $run has several words
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

run='scripts/barecpc run --arch arm64 --accel tcg'

# prints NAME PATTERN TIMES: this number of lines of the last run's output match.
prints() {
	check "$1" test "$(grep -cE -e "$2" "$out")" = "$3"
}

# refuses LINE program [args...]: the program prints this line and its usage, and ends with status 2.
refuses() {
	line=$1
	shift
	expect "$* is refused" 2 "^$line\$" $run -- "$@"
	check "$*: the usage" grep -qE "^usage: $1 " "$err"
}

refuses 'triad: -q: no such option' triad -q
refuses 'triad: elements: not a number: "12x"' triad 12x
refuses 'triad: elements: 0 is not within 1\.\.67108864' triad 64 0
refuses 'matmul: order: not a number: "-3"' matmul -- -3
refuses 'matmul: order: 2k is not within 1\.\.1024' matmul 2k
refuses 'chase: -r: needs an argument' chase -r
refuses 'chase: -r: 0 is not within 1\.\.1000' chase -r 0
refuses 'spin: give both short and long, or neither' spin 1000
refuses 'spin: long: 1000 is not within 1001\.\.[0-9]+' spin 1000 1000
refuses 'spin: -e: an event without a name' spin -e PAPI_tot_ins,
expect 'example1 takes no argument' 2 '^usage: example1$' $run -- example1 x

expect 'sizes with suffixes' 0 '' $run -- chase -n -e PAPI_tot_ins 128 1k 0x400
prints 'a row for each size' '^chase/(128|1024) +PAPI_tot_ins:u ' 3
prints 'no titles with -n' '^(#|payload)' 0

expect 'events in lists and in separate options' 0 '' $run -- matmul -e PAPI_tot_ins:u,0x11:uk -e inst_retired:k -r 1 -w 0 8
prints 'the first is counted at user privilege' '^matmul/8 +PAPI_tot_ins:u +[1-9]' 1
prints 'the second at both privileges' '^matmul/8 +0x11:uk +[1-9]' 1
prints 'the third at system privilege, where nothing ran' '^matmul/8 +inst_retired:k +0 +0\.000 ' 1
prints 'the title comes once' '^payload ' 1

expect 'a run at system privilege' 0 '' $run --append priv=system -- triad 64
prints 'system privilege is the default there' '^triad/64 +PAPI_tot_(ins|cyc):k +[1-9]' 2

expect 'only user privilege, for a payload at system privilege' 77 '^triad: nothing was counted: PAPI_tot_ins: user mode alone' \
	$run --append priv=system -- triad -e PAPI_tot_ins:u 64
prints 'the row is not 0' '^triad/64 +PAPI_tot_ins:u +<not supported> ' 1
prints 'the reason is given' '^# <not supported>: PAPI_tot_ins: user mode alone is never counted at system privilege: ask for :k$' 1
expect 'stat says the same, of a program that cannot count under it' 77 '^ +<not supported> +PAPI_tot_ins:u ' $run --append priv=system -- stat -e PAPI_tot_ins:u,PAPI_tot_cyc:k triad 64

expect 'record does not run' 77 '^record: <not supported>: PAPI_tot_ins: user mode alone is never counted at system privilege: ask for :k$' \
	$run --append priv=system -- record -e PAPI_tot_ins:u triad 64
# The program of README.
# shellcheck disable=SC2016 # back quotes of Markdown
sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$tap_dir/dot.c"
scripts/barecpc-cc --arch arm64 -O2 -o "$tap_dir/dot" "$tap_dir/dot.c"
expect 'a program with the same mistake gets a line in the log' 0 \
	'^barecpc: dot: request 0 .event 0x8. counts user mode alone, which never runs at system privilege: ask for CPC_COUNT_SYSTEM$' \
	$run --append priv=system --payload "$tap_dir/dot" -- dot
check 'it is one line' test "$(grep -c 'user mode alone' "$err")" = 1
expect 'at user privilege it gets no line' 0 '^barecpc: exit 0$' $run --payload "$tap_dir/dot" -- dot
# Another compiler makes another program of it.
if [ "$(aarch64-linux-gnu-gcc -dumpversion)" = 12 ]; then
	check 'README shows what it prints' grep -qxF "    $(cat "$out")" README.md
fi
check 'it counts there' sh -c "! grep 'user mode alone' '$err' && grep -qE '^[1-9][0-9]* instructions\$' '$out'"

expect 'more events than PICs' 0 '' $run -- triad -e PAPI_tot_ins,PAPI_tot_cyc,inst_retired,cpu_cycles,0x8,0x11,PAPI_tot_ins,PAPI_tot_cyc 64
prints 'they are counted in turn' '^triad/64 .*:u +[1-9][0-9]* ' 8

expect 'an unknown event counts nothing' 77 '^host: ran, but counted nothing' $run -- triad -e no_such 64
prints 'the reason is given' "^# <not supported>: no_such: Unknown event: no table of events exists for this CPU [(]implementer 0, part 0x51[)]: raw codes [(]r1c0, 0x1c0[)] and architected events work, .list. prints them\$" 1

expect 'example1 counts the events of the environment' 0 '' $run --env EVENT0=inst_retired --env EVENT1=0x11 -- example1
prints 'in 20 lines' '^ *[0-9]+: [1-9][0-9]* [1-9][0-9]*$' 20
expect 'example1 stops at an unknown event' 1 '^example1: could not add no_such: ' $run --env EVENT1=no_such -- example1
end
