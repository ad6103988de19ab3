#!/bin/sh
# stat counts another program, unchanged, and the programs that it forks and executes.  It counts exactly, can count more
# events than there are PICs, and prints the forms of perf stat.  Each boot fails if the launcher finds a leak at its end.
# shellcheck disable=SC2086 # $run has several words
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# value EVENT: its count in the last run's table.
value() {
	awk -v event="$1" '$2 == event { print $1 }' "$err"
}

# says NAME PATTERN TIMES: this number of lines of the last run's standard error match.
says() {
	check "$1" test "$(grep -cE -e "$2" "$err")" = "$3"
}

# With an unknown event, spin does not count its loops of two instructions per iteration, and ends with 77.  Each loop runs
# once.  All numbers that spin prints have the same length in both runs, so that only the loops differ.
loops() {
	expect "$1: spin 1000 $2" 77 '^ Performance counter stats for .spin -e no_such -r 1 -w 0 1000 [34]000.:$' $run -- \
		stat -e PAPI_tot_ins:u,PAPI_tot_ins:k,PAPI_tot_ins:uk spin -e no_such -r 1 -w 0 1000 "$2"
}

# kin NAME MORE WORDS [options]: `tree WORDS 1000` counts $kin.  With 2000 turns, of two instructions each, it counts MORE.
kin() {
	name=$1 more=$2 words=$3
	shift 3
	expect "$name" 0 "^ Performance counter stats for 'tree $words 1000':\$" $run "$@" -- stat -e $ins:u,$ins:k tree $words 1000
	kin=$(value $ins:$level)
	expect "$name, more turns" 0 '^ +[0-9]+\.[0-9]{9} seconds time elapsed$' $run "$@" -- stat -e $ins:u,$ins:k tree $words 2000
	check "$name: exactly" test "$(value $ins:$level)" = $((kin + more))
}

ins=PAPI_tot_ins
tab=$(printf '\t')
for arch in arm64 x86_64; do
	run="scripts/barecpc run --arch $arch --accel tcg"
	loops $arch 3000
	short=$(value PAPI_tot_ins:u)
	check "$arch: both privileges are the sum of the two" test "$(value PAPI_tot_ins:uk)" = $((short + $(value PAPI_tot_ins:k)))
	loops $arch 4000
	check "$arch: 1,000 more iterations are 2,000 more instructions" test "$(value PAPI_tot_ins:u)" = $((short + 2000))

	scripts/barecpc-cc --arch $arch -O2 -o "$tap_dir/shares" tests/cli/programs/shares.c
	scripts/barecpc-cc --arch $arch -O2 -o "$tap_dir/tree" tests/cli/programs/tree.c
	run="$run --payload $tap_dir/shares --payload $tap_dir/tree"
	for lwps in 1 4; do
		$run -- record -c 1000003 shares 1 $lwps >"$out" 2>"$err" </dev/null
		events=$(sed -n 's/^# .* samples, \([0-9]*\) events, .*/\1/p' "$out")
		expect "$arch: shares, LWPs: $lwps" 0 '' $run -- stat shares 1 $lwps
		check "$arch: a profile counts the same" test "$(value PAPI_tot_ins:u)" = "$events"
	done

	level=u
	kin "$arch: a program" 2000 turn
	kin "$arch: a program that executes another" 2000 next
	kin "$arch: a program that forks three" 6000 'fork 3'
	kin "$arch: and they execute another" 6000 'exec 3'
	one=$kin
	# On arm64 only the patched QEMU counts the instructions of each CPU separately.
	kin "$arch: the same on four CPUs" 6000 'exec 3' --smp 4 --qemu pmu
	check "$arch: the count is the same as on one" test "$kin" = "$one"
	level=k
	kin "$arch: at system privilege" 2000 turn --append priv=system
	check "$arch: user privilege is not supported there" grep -qE "^ +<not supported> +$ins:u" "$err"
	check "$arch: stat gives the reason" grep -qx "# stat: $ins: user mode alone is never counted at system privilege: ask for :k" "$err"
	expect "$arch: a child that does not end" 0 '^# stat: LWPs that outlived the program, and are not in the counts: 1$' $run -- stat tree orphan
	expect "$arch: a program that faults" 139 "^ +[1-9][0-9]* +$ins:u +# " $run -- stat tree fault
	expect "$arch: a program that --timeout ends" 137 '^stat: shares: ended after 20 ms \(--timeout\)$' $run -- stat --timeout 20 shares 1 8

	# It ends at 7 ms.  stat learns of its timeout only after the child's slice of 4 ms, too late to end it.
	expect "$arch: a program that ends just before --timeout" 3 '^ +[1-9][0-9]* +'$ins:u' +$' $run -- stat --timeout 10 -e $ins tree late 7
	says "$arch: it was not ended" 'ended after' 0

	# The clock decides how long it spins, so the runs differ.
	expect "$arch: runs that differ" 0 "^# stat: reference $ins: [1-9][0-9]*\.\.[1-9][0-9]*, spread [1-9][0-9]* in 5 runs\$" \
		$run -- stat -r 5 -e $ins tree vary
	says "$arch: the table has the spread" "^ +[1-9][0-9]* +$ins:u +\( \+- +[1-9][0-9]*\.[0-9]{2}% \)\$" 1
	expect "$arch: runs that differ, -x" 0 "^[1-9][0-9]*,,$ins:u,[1-9][0-9]*\.[0-9]{2}%,[1-9][0-9]*,100\.00,,\$" \
		$run -- stat -r 5 -x , -e $ins tree vary
	says "$arch: -x: the reference has them" "^# stat: reference $ins: .* in 5 runs\$" 1

	expect "$arch: a set that is bound to a CPU during the run: nothing is counted" 77 "^ +<not counted> +$ins:u +\$" \
		$run --results "$tap_dir/r.jsonl" -- stat -r 2 -e $ins tree cpu
	check "$arch: the record is as the schema has it" python3 -B tests/cli/lib/schema.py "$tap_dir/r.jsonl"
	check "$arch: the record says that both runs are left out" grep -q '"excluded":2}' "$tap_dir/r.jsonl"
	says "$arch: the reason" "^# stat: $ins: not counted in 2 of 2 runs: a set was bound to a CPU\$" 1
	expect "$arch: the same with -j" 77 '^\{"counter-value" : "<not counted>", ' $run -- stat -j -e $ins tree cpu

	many=$ins,$ins,$ins,$ins,$ins,$ins,$ins,$ins,$ins,$ins,$ins,$ins
	expect "$arch: more events than PICs" 0 "^# stat: reference $ins: [1-9][0-9]* in each of [2-9][0-9]* runs\$" \
		$run -- stat -r 3 -e $many shares 1 1
	says "$arch: each is counted, the same each time" "^ +[1-9][0-9]* +$ins:u +\$" 12
	check "$arch: they are all the same" test "$(value $ins:u | sort -u | wc -l)" = 1
	says "$arch: the title says three runs" "^ Performance counter stats for 'shares 1 1' \(3 runs\):\$" 1
	says "$arch: the time has its error" '^ +[0-9.]+ \+- 0\.[0-9]+ seconds time elapsed  \( \+- +[0-9.]+% \)$' 1

	expect "$arch: -x" 0 "^[1-9][0-9]*,,$ins:u,[1-9][0-9]*,100\.00,,\$" $run -- stat -x , -e $ins,PAPI_l1_tcm shares 1 1
	says "$arch: -x: an unsupported event" '^<not supported>,,PAPI_l1_tcm:u,0,100\.00,,$' 1
	says "$arch: -x: the reason" '^# stat: PAPI_l1_tcm: Unknown event: ' 1
	# An unknown event does not refuse the others.  If all are unknown, nothing runs.
	case $arch in
	arm64) listed='no table of events exists for this CPU [(]implementer 0, part 0x51[)]: raw codes [(]r1c0, 0x1c0[)] and architected events work, .list. prints them' ;;
	*) listed='.list. prints the events of this CPU' ;;
	esac
	expect "$arch: an unknown name" 0 "^# stat: no_such: Unknown event: $listed\$" $run -- stat -x , -e $ins,no_such shares 1 1
	says "$arch: the other event is counted" "^[1-9][0-9]*,,$ins:u," 1
	says "$arch: the unknown one is not" '^<not supported>,,no_such:u,' 1
	expect "$arch: only unknown names" 2 "^stat: no_such: Unknown event: $listed\$" $run -- stat -x , -e no_such,no_such shares 1 1
	says "$arch: nothing is counted" ',,' 0
	expect "$arch: an unknown name in a group" 0 '^# stat: no_such: Unknown event' $run -- stat -e "{$ins,no_such},$ins" shares 1 1
	expect "$arch: perf's nearest name" 2 '^stat: instuctions: Unknown event: did you mean instructions[?]$' \
		$run -- stat -e instuctions shares 1 1
	expect "$arch: the nearest name of an event of the kernel" 2 '^stat: task-clok: Unknown event: did you mean task-clock[?]$' \
		$run -- stat -e task-clok shares 1 1
	# arm64 without a model has no table to suggest from.
	model='' own=INST_RETIRED:ANY_P big=0x1c0
	wrong=MEM_LOAD_RETIRED reason="needs a unit mask: 'list' prints them"
	[ $arch = x86_64 ] || wrong=INST_RETIRED:u=1:u=0 reason='a modifier has two values'
	unheard='--cpu Skylake-Client,pmu=on,pmu-version=4,model=250' typo=Inst_retird.any_p meant=inst_retired.any_p
	[ $arch = x86_64 ] || unheard='' typo=cpu_cycels meant=cpu_cycles
	[ $arch = x86_64 ] || model='--cpu neoverse-n1' own=INST_RETIRED big=0x10000
	expect "$arch: an unknown name, with a suggestion" 2 '^stat: INST_RETIRE: Unknown event: did you mean INST_RETIRED\?$' \
		$run $model -- stat -e INST_RETIRE shares 1 1
	# Different names of the same events, counted at the same time.
	expect "$arch: perf's names" 0 "^ +[1-9][0-9]* +cycles:u" $run -- \
		stat -e PAPI_tot_ins,instructions,PAPI_tot_cyc,cycles,bus-cycles:k shares 1 1
	check "$arch: instructions are the same" test "$(value instructions:u)" = "$(value PAPI_tot_ins:u)"
	check "$arch: cycles are the same" test "$(value cycles:u)" = "$(value PAPI_tot_cyc:u)"
	says "$arch: instructions per cycle" '^ +[0-9]+ +instructions:u +# +[01]\.[0-9]{3}  insn per cycle \(model\)$' 1
	lacking=1
	[ $arch = arm64 ] || lacking=0
	says "$arch: a name without an event" "^# stat: bus-cycles: this PMU has no event for perf's name\$" $lacking
	expect "$arch: record accepts them" 0 '' $run -- record -e instructions -c 1000003 shares 1 1
	check "$arch: record prints them" grep -q '^# instructions:u, a sample each 1000003: ' "$out"

	# The privilege of a raw event follows a slash, as in perf.
	raw=cpu/event=0x8/
	[ $arch = arm64 ] || raw=cpu/event=0xc0/
	expect "$arch: a raw event's privilege" 0 "^[1-9][0-9]*,,$raw:k,[1-9][0-9]*,100\.00,,\$" $run -- stat -x , -e ${raw}k,${raw}uk,$raw shares 1 1
	says "$arch: both privileges, and the default" "^[1-9][0-9]*,,$raw:uk?,[1-9][0-9]*,100\.00,,\$" 2
	# Privilege modifiers in a name override the request, and are printed once.
	expect "$arch: a privilege modifier in a name" 0 "^[1-9][0-9]*,,$own:k=1:u=0,[1-9][0-9]*,100\.00,,\$" \
		$run $model -- stat -x , -e "$own:k=1:u=0,$own:u:k,$own:k" shares 1 1
	says "$arch: both privileges, by two modifiers" "^[1-9][0-9]*,,$own:u:k,[1-9][0-9]*,100\.00,,\$" 1
	check "$arch: it counts this privilege only" test "$(sed -n "s/,,$own:k=1:u=0,.*//p" "$err")" = "$(sed -n "s/,,$own:k,.*//p" "$err")"
	long=no_such_event_but_one_that_has_more_letters_than_a_column_of_a_table_or_a_line_of_a_terminal_is_wide
	expect "$arch: a long name" 2 "^stat: $long: Unknown event" $run -- stat -e $long shares 1 1
	expect "$arch: a number that is too large" 2 "^stat: $big: Unknown event: request 0: an event's number is at most 0xf" \
		$run -- stat -e $big shares 1 1
	expect "$arch: -x, a tab" 0 "^[1-9][0-9]*$tab$tab$ins:u${tab}[1-9][0-9]*${tab}100\.00$tab$tab\$" $run -- stat -x '\t' -e $ins shares 1 1
	forty=$many,$many,$many,$ins,$ins,$ins,$ins
	expect "$arch: forty events" 0 '^ Performance counter stats' $run -- stat -e $forty shares 1 1
	says "$arch: each is counted, the same each time" "^ +[1-9][0-9]* +$ins:u +\$" 40
	expect "$arch: a known event with a wrong part" 2 "^stat: $wrong: Unknown event: $reason\$" $run $model -- stat -e $wrong shares 1 1
	# Events in braces are counted at the same time, as in perf.
	expect "$arch: groups" 0 "^[1-9][0-9]*,,$ins:uk,[1-9][0-9]*,100\.00,[01]\.[0-9]{2},insn per cycle\$" \
		$run -- stat -x , -e "{$ins,$ins:u,PAPI_tot_cyc:uk}:S,{$ins}:uk,{$ins,PAPI_l1_tcm},$ins" shares 1 1
	says "$arch: a group with an unsupported event" '^<not supported>,,' 2
	says "$arch: the reason comes once" '^# stat: PAPI_l1_tcm: Unknown event' 1
	says "$arch: the other events are counted" "^[1-9][0-9]*,,$ins:u," 3
	pair=$many
	[ $arch = arm64 ] || pair=instr_retired.any,instr_retired.any
	expect "$arch: a group that does not fit" 0 '^# stat: a group of [0-9]*, which this machine does not count at once$' \
		$run -- stat -x , -e "{$pair},$ins" shares 1 1
	says "$arch: the message comes once" '^# stat: a group of ' 1
	says "$arch: the group is not counted" '^<not counted>,,' "$(echo $pair | tr , '\n' | wc -l)"
	says "$arch: the next event is counted" "^[1-9][0-9]*,,$ins:u," 1
	expect "$arch: a group without an end" 2 '^stat: -e: "{'$ins'": no } ends the group$' $run -- stat -e "{$ins" shares 1 1
	expect "$arch: a group with a wrong suffix" 2 '^stat: -e: "x": only a level, :u or :k, may follow a group$' $run -- stat -e "{$ins}x" shares 1 1
	# On an unknown model the names of the backend remain, and are suggested.
	expect "$arch: a suggestion without a table" 0 "^# stat: $typo: Unknown event: did you mean ${meant}[?]\$" \
		$run $unheard -- stat -x , -e $typo,$meant shares 1 1
	expect "$arch: the suggested name counts" 0 "^[1-9][0-9]*,,$meant:u," $run $unheard -- stat -x , -e $meant shares 1 1
	expect "$arch: -x with runs" 0 "^[1-9][0-9]*;;$ins:u;0\.00%;[1-9][0-9]*;100\.00;;\$" $run -- stat -r 2 -x ';' -e $ins shares 1 1
	json="^\{\"counter-value\" : \"[1-9][0-9]*\.000000\", \"unit\" : \"\", \"event\" : \"$ins:u\""
	expect "$arch: -j" 0 "$json, \"event-runtime\" : [1-9][0-9]*, \"pcnt-running\" : 100\.00\}\$" $run -- stat -j -e $ins shares 1 1
	expect "$arch: -j with runs" 0 "$json, \"variance\" : 0\.00, \"event-runtime\" : [1-9][0-9]*, \"pcnt-running\" : 100\.00\}\$" \
		$run -- stat -j -r 2 -e $ins shares 1 1
	# The runs of the second group take other times.
	expect "$arch: CPUs utilized" 0 '"event" : "task-clock"' $run --results "$tap_dir/r.jsonl" -- stat -j -e task-clock,$many tree vary
	check "$arch: they are those of the runs that counted the time" python3 tests/cli/lib/stat_json.py utilized "$err" "$tap_dir/r.jsonl"
	expect "$arch: as many runs as a record has room for" 0 '^barecpc: exit 0$' $run --results "$tap_dir/r.jsonl" -- triad -r 1000 -e $ins 64
	check "$arch: the record has them all" python3 tests/cli/lib/stat_json.py runs "$tap_dir/r.jsonl"
	expect "$arch: one run more" 2 '^stat: -r: 1001 is not within 1\.\.1000$' $run -- stat -r 1001 shares 1 1
	expect "$arch: zero runs" 2 '^stat: -r: 0 is not within 1\.\.1000$' $run -- stat -r 0 shares 1 1
	expect "$arch: a number of runs that is not a number" 2 '^stat: -r: not a number: "1x"$' $run -- stat -r 1x shares 1 1
	expect "$arch: the program's status" 2 '^spin: give both short and long, or neither$' $run -- stat spin 1
	expect "$arch: no such program" 127 '^stat: nothing: No such file' $run -- stat nothing
	says "$arch: it prints no table" 'Performance counter' 0
	expect "$arch: no program" 2 '^stat: no program to count$' $run -- stat -e $ins
	expect "$arch: -r and -I together" 2 '^stat: give only one of -r and -I$' $run -- stat -r 2 -I 1000 spin
	expect "$arch: -x and -j together" 2 '^stat: give only one of -x and -j$' $run -- stat -j -x , spin
done
end
