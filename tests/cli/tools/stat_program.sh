#!/bin/sh
# `scripts/barecpc stat ./prog` counts a program of this machine.  The counts are the same, to the byte, whatever else this
# machine does and wherever the program is.  The kernel's events, and the counts of threads and intervals, are exact.
# With BARECPC_CAMPAIGN=yes each kind of run is made five times.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

top=$PWD
ins=PAPI_tot_ins
dir=$tap_dir/files
mkdir -p "$dir/deep/er"

# value EVENT: the sum of its counts in the last results.
value() {
	awk -v event="$1" '{ for (i = 2; i <= NF; i++) if ($i == event) sum += $(i - (unit = $(i - 1) == "msec") - 1) }
		END { print sum }' "$err"
}

# counts NAME RUN...: a run leaves the same results, records and output as the first.
counts() {
	name=$1
	shift
	for _ in $times; do
		"$@" -o "$tap_dir/counts" --results "$tap_dir/records" "$program" 10 1 >"$out" 2>"$err" </dev/null
		status=$?
		[ -f "$tap_dir/first.counts" ] || for kind in counts records; do cp "$tap_dir/$kind" "$tap_dir/first.$kind"; done
		check "$name" sh -c "[ $status = 0 ] && [ ! -s '$err' ] && cmp '$tap_dir/counts' '$tap_dir/first.counts' &&
			cmp '$tap_dir/records' '$tap_dir/first.records'"
	done
}

times=1
[ "${BARECPC_CAMPAIGN-}" != yes ] || times='1 2 3 4 5'
for arch in arm64 x86_64; do
	# No --arch: the program's header says it.
	stat="$top/scripts/barecpc stat --accel tcg"
	program=$dir/shares
	scripts/barecpc-cc --arch $arch -O2 -o "$program" tests/cli/programs/shares.c
	scripts/barecpc-cc --arch $arch -O2 -o "$dir/soft" tests/cli/programs/soft.c
	cp "$program" "$dir/deep/er"
	cp "$program" "$dir/stat"
	rm -f "$tap_dir"/first.*
	# shellcheck disable=SC2086 # several words
	counts "$arch: stat ./prog" $stat
	check "$arch: it counted" grep -qE "^ +10[0-9]{6} +$ins:u" "$tap_dir/counts"
	sh -c 'while :; do :; done' &
	busy=$!
	sh -c 'while :; do :; done' &
	busy="$busy $!"
	# shellcheck disable=SC2086
	counts "$arch: the same next to busy processes" $stat
	# shellcheck disable=SC2086
	kill $busy
	# shellcheck disable=SC2086
	counts "$arch: the same on one CPU of this machine" taskset -c 0 $stat
	cd "$dir/deep" || exit 1
	program=er/shares
	# shellcheck disable=SC2086
	counts "$arch: the same from another path" $stat
	cd "$top" || exit 1
done

# Options, on arm64.
for program in shares soft; do
	scripts/barecpc-cc --arch arm64 -O2 -o "$dir/$program" tests/cli/programs/$program.c
done
cp "$dir/shares" "$dir/stat"
stat='scripts/barecpc stat --accel tcg'
# shellcheck disable=SC2086
{
	expect 'four threads' 0 "^ +[0-9]+ +$ins:u" $stat "$dir/shares" 10 4
	whole=$(value $ins:u)
	expect '--per-thread' 0 "^ +shares-[0-9]+ +[0-9]+ +$ins:u" $stat --per-thread -e $ins -e task-clock "$dir/shares" 10 4
	check 'there are four' test "$(grep -c "$ins:u" "$err")" = 4
	check 'their sum is the count of the program' test "$(value $ins:u)" = "$whole"
	expect '-I' 0 "^ +0\.[0-9]{9} +3000000 +$ins:u" $stat -I 3000000 -e $ins,task-clock "$dir/shares" 10 4
	check 'each thread has three whole intervals' test "$(grep -cE "^ +0\.[0-9]{9} +3000000 +$ins:u" "$err")" = 12
	check 'the intervals add up' test "$(value $ins:u)" = "$whole"
	expect '-I at system privilege' 77 '^stat: <not supported>: -I: only at user privilege$' $stat -I 3000000 --append priv=system "$dir/shares" 10 1
	expect '--per-thread at system privilege' 0 "^ +shares-[0-9]+ +[0-9]+ +$ins:k" $stat --per-thread --append priv=system "$dir/shares" 10 2
	expect '-j of threads' 0 '"event" : "task-clock"' $stat -j --per-thread -e $ins,task-clock "$dir/shares" 10 4
	check 'each thread has its own time of counting' python3 tests/cli/lib/stat_json.py times "$err"
	expect '-j of intervals' 0 '"event" : "task-clock"' $stat -j -I 3000000 -e $ins,task-clock "$dir/shares" 10 1
	check 'each interval has its own time of counting' python3 tests/cli/lib/stat_json.py times "$err"
	# The lines that explain are objects, too, and names are escaped.
	cp "$dir/shares" "$dir/a\"b"
	check '-j to a file' $stat -j -o "$tap_dir/json" --per-thread --aggregates -e $ins,task-clock,no_such "$dir/a\"b" 1 2
	check 'every line of it is JSON' python3 tests/cli/lib/stat_json.py lines "$tap_dir/json"
	check 'a name is escaped' grep -qF '"thread" : "a\"b-' "$tap_dir/json"
	expect '--aggregates have a unit' 0 '^# stat: task-clock, ns: min [1-9][0-9]*, median ' $stat --aggregates -e task-clock "$dir/soft" 0 0 0
	scripts/barecpc-cc --arch arm64 -O2 -o "$dir/hog" tests/cli/programs/hog.c
	expect 'no memory for intervals' 77 "^# stat: $ins: not counted in 1 of 1 runs: no memory was left for some threads or intervals: give more by --mem\$" \
		$stat --mem 64M -I 1000 -e $ins "$dir/hog" 5000000
	check 'the sum of some intervals is no count' grep -qE "^ +<not counted> +$ins:u" "$err"
	soft=page-faults,context-switches,cpu-migrations
	expect "the kernel's events" 0 '^ +7 +page-faults ' $stat -e $soft "$dir/soft" 7 5 0
	check 'each sleep is a switch' test "$(value context-switches)" = 5
	check 'nothing moved' test "$(value cpu-migrations)" = 0
	expect 'moves to another CPU' 0 '^ +6 +cpu-migrations ' $stat --qemu pmu --smp 2 -e $soft "$dir/soft" 0 0 6
	expect '-d' 0 '^ +[0-9]+\.[0-9]{2} msec task-clock +# +[01]\.[0-9]{3}  CPUs utilized$' $stat -d "$dir/soft" 0 0 0
	check '-d: the list of perf' test "$(grep -cE 'task-clock|context-switches|cpu-migrations|page-faults|cycles:u|instructions:u|branches:u|branch-misses:u|L1-dcache-loads:u|L1-dcache-load-misses:u|LLC-loads:u|LLC-load-misses:u' "$err")" -ge 12
	check '-d: instructions per cycle' grep -qE '^ +[0-9]+ +instructions:u +# +1\.000  insn per cycle \(model\)$' "$err"
	expect '-x' 0 '^[0-9.]+,msec,task-clock,[0-9]+,100\.00,[01]\.[0-9]{2},CPUs utilized$' $stat -x , -e task-clock "$dir/soft" 0 0 0
	expect '-j' 0 '"event" : "instructions:u", .*, "metric-value" : 1\.000000, "metric-unit" : "insn per cycle"}$' \
		$stat -j -e instructions,cycles "$dir/soft" 0 0 0
	expect 'a program named as the tool' 0 "^ Performance counter stats for 'program/stat 10 1':" $stat "$dir/stat" 10 1
	expect 'a program of the image' 2 '^spin: give both short and long' $stat --arch aarch64 spin 1
	expect 'words after the program are its own' 0 "^ Performance counter stats for 'soft -- \| -e':" $stat -- "$dir/soft" -- '|' -e
	expect 'no program' 125 '^host: no program: give it after the options: barecpc stat \./prog$' $stat -e $ins
	expect 'another architecture' 125 'soft: for arm64, and --arch is x86_64: leave --arch out$' $stat --arch amd64 "$dir/soft"
	expect 'a file that is no program' 125 'not an ELF program for x86-64 or arm64: ' $stat ./README.md
	$stat -o "$tap_dir/new" --results "$tap_dir/new.jsonl" -d "$dir/soft" 0 0 0 >"$out" 2>"$err"
	check 'its records can be compared' sh -c "scripts/barecpc compare '$tap_dir/new.jsonl' '$tap_dir/new.jsonl' | grep -x '6 same, 6 not counted; 0 failed'"
}

# Payloads of any kind.
cat >"$tap_dir/show.c" <<'END'
#include <stdio.h>

int
main(int argc, char **argv)
{
	char line[80] = "";

	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "r");

		if (f == NULL || fgets(line, sizeof line, f) == NULL)
			return 1;
		printf("%s: %s", argv[i], line);
	}
	return 0;
}
END
scripts/barecpc-cc --arch x86-64 -o "$tap_dir/show" "$tap_dir/show.c"
mkdir "$tap_dir/folder"
echo one >"$tap_dir/folder/text"
echo two >"$tap_dir/notes"
expect 'a program, a folder and a file' 0 '^host: x86_64, tcg' scripts/barecpc run --accel tcg --payload "$tap_dir/show" \
	--payload "$tap_dir/folder" --payload "$tap_dir/notes" -- show folder/text notes
check 'it reads both' test "$(cat "$out")" = "$(printf 'folder/text: one\nnotes: two')"
expect 'programs of two architectures' 125 ' is for arm64, .* is for x86_64: give --arch$' scripts/barecpc run \
	--payload "$dir/soft" --payload "$tap_dir/show" -- show
for command in '' stat read list; do
	# shellcheck disable=SC2086
	check "barecpc $command --version" sh -c "scripts/barecpc $command --version | grep -qE '^barecpc [0-9.]+, ([0-9-]{10} [0-9a-f]+[+]?|of an unknown)'"
done
end
