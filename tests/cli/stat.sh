#!/bin/sh
# stat counts another program, unchanged: exactly, more events than there are PICs, and prints it in perf stat's forms.
# shellcheck disable=SC2086 # $run is words
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

# value EVENT: what the last run's table says of it.
value() {
	awk -v event="$1" '$2 == event { print $1 }' "$err"
}

# says NAME PATTERN TIMES: so many lines of the last run's standard error match.
says() {
	check "$1" test "$(grep -cE -e "$2" "$err")" = "$3"
}

# An event that is not known leaves spin's loops, of two instructions an iteration, uncounted, and each runs once.  All
# numbers that spin prints have as many digits in both runs, so that the loops alone differ.
loops() {
	expect "$1: spin 1000 $2" 0 '^ Performance counter stats for .spin.:$' $run -- \
		stat -e PAPI_tot_ins:u,PAPI_tot_ins:k,PAPI_tot_ins:uk spin -e no_such -r 1 -w 0 1000 "$2"
}

for arch in arm64 x86_64; do
	run="scripts/barecpc run --arch $arch --accel tcg"
	loops $arch 3000
	short=$(value PAPI_tot_ins:u)
	check "$arch: both privileges are the sum of each" test "$(value PAPI_tot_ins:uk)" = \
		$((short + $(value PAPI_tot_ins:k)))
	loops $arch 4000
	check "$arch: 1,000 iterations more are 2,000 instructions" test "$(value PAPI_tot_ins:u)" = $((short + 2000))

	scripts/barecpc-cc --arch $arch -O2 -o "$tap_dir/shares" tests/cli/shares.c
	run="$run --payload $tap_dir/shares"
	for lwps in 1 4; do
		$run -- record -c 1000003 shares 1 $lwps >"$out" 2>"$err" </dev/null
		events=$(sed -n 's/^# .* samples, \([0-9]*\) events, .*/\1/p' "$out")
		expect "$arch: shares, LWPs: $lwps" 0 '' $run -- stat shares 1 $lwps
		check "$arch: is what a profile of it counts" test "$(value PAPI_tot_ins:u)" = "$events"
	done

	ins=PAPI_tot_ins
	many=$ins,$ins,$ins,$ins,$ins,$ins,$ins,$ins,$ins,$ins,$ins,$ins
	expect "$arch: more events than PICs" 0 "^# stat: reference $ins: [1-9][0-9]* in each of [2-9][0-9]* runs\$" \
		$run -- stat -r 3 -e $many shares 1 1
	says "$arch: each is counted, the same each time" "^ +[1-9][0-9]* +$ins:u +\( \+-  0\.00% \)\$" 12
	check "$arch: they are all the same" test "$(value $ins:u | sort -u | wc -l)" = 1
	says "$arch: three runs are told of" "^ Performance counter stats for 'shares' \(3 runs\):\$" 1
	says "$arch: and the time" '^ +[0-9.]+ seconds time elapsed$' 1

	expect "$arch: -x" 0 "^[1-9][0-9]*,,$ins:u,[1-9][0-9]*,100\.00\$" $run -- stat -x , -e $ins,no_such shares 1 1
	says "$arch: -x: what cannot be counted" '^<not supported>,,no_such:u,0,100\.00$' 1
	says "$arch: -x: and why" '^# stat: no_such: Unknown event' 1
	# arm64 without a model has no table to suggest from.
	model=
	[ $arch = x86_64 ] || model='--cpu neoverse-n1'
	expect "$arch: a name that is nearly one" 0 '^# stat: INST_RETIRE: Unknown event: did you mean INST_RETIRED\?$' \
		$run $model -- stat -e INST_RETIRE shares 1 1
	expect "$arch: -x with runs" 0 "^[1-9][0-9]*;;$ins:u;[1-9][0-9]*;100\.00;0\.00%\$" \
		$run -- stat -r 2 -x ';' -e $ins shares 1 1
	expect "$arch: -j" 0 \
		"^\{\"counter-value\" : \"[1-9][0-9]*\.000000\", \"unit\" : \"\", \"event\" : \"$ins:u\", \"event-runtime\" : [1-9][0-9]*, \"pcnt-running\" : 100\.00\}\$" \
		$run -- stat -j -e $ins shares 1 1
	expect "$arch: the program's status" 2 '^spin: short and long are given together$' $run -- stat spin 1
	expect "$arch: no such program" 127 '^stat: nothing: No such file' $run -- stat nothing
	says "$arch: no table then" 'Performance counter' 0
	expect "$arch: no program" 2 '^stat: no program to count$' $run -- stat -e $ins
	expect "$arch: both forms" 2 '^stat: -x and -j exclude each other$' $run -- stat -j -x , spin
done
end
