#!/bin/sh
# Programs of one line run at the same time.  `a | b` connects stdout and stdin, `a & b` nothing.  The line ends with the
# last of them, its status is as documented, and nothing leaks.  A line that is wrong runs nothing.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

cat >"$tap_dir/suite" <<'END'
joined count 2000000 & joined count 3000000
joined lines 5000 | joined copy | joined copy
joined lines 100000 | joined byte
joined leave & joined lines 2
joined exit 3 | joined exit 0
joined exit 0 | joined exit 4
joined exit 0 & joined exit 5 & joined exit 6
joined exit 7 & joined exit 0
joined exit 77 & joined exit 8
joined exit 77 & joined exit 0 | joined exit 0
| joined exit 0
joined exit 0 &
joined exit 0 | & joined exit 0
joined lines 1 | nonesuch
joined exit 0 & joined exit 0 & joined exit 0 & joined exit 0 & joined exit 0 & joined exit 0 & joined exit 0 & joined exit 0
joined lines 1 & joined lines 1 & joined lines 1 & joined lines 1 & joined lines 1 & joined lines 1 & joined lines 1 & joined lines 1 & joined lines 1
hello 0 "|" \& "a & b" a|b "" |
hello 0 "|" \& "a & b" a|b ""
END
cat >"$tap_dir/log" <<'END'
joined: exit 141
joined: exit 3
joined: exit 4
joined | joined: exit 4
joined: exit 5
joined: exit 6
joined & joined & joined: exit 5
joined: exit 7
joined & joined: exit 7
joined: exit 77
joined: exit 8
joined & joined: exit 8
joined: exit 77
joined & joined | joined: exit 77
suite: no program before `|': name one, or write \| for the word itself
suite: no program after `&': name one, or write \& for the word itself
suite: no program before `&': name one, or write \& for the word itself
nonesuch: no such program
joined | nonesuch: exit 125
suite: more than 8 programs at once: join fewer by | and &
suite: no program after `|': name one, or write \| for the word itself
END
words() {
	printf '[%s]\n' hello 0 '|' '&' 'a & b' 'a|b' ''
}
{
	seq 5000
	seq 2
	words
} >"$tap_dir/lines"

# Two programs counted 4 instructions for each of their turns, and their times overlap.
both_counted() {
	awk '/^count / { n++; got[$2] = 1; if ($4 > from) from = $4; if (to == 0 || $6 < to) to = $6 }
	END { exit n == 2 && got[8000000] && got[12000000] && from < to ? 0 : 1 }' "$out"
}

# joined NAME options...
joined() {
	name=$1
	shift
	expect "$name: the status is that of the first failure" 4 '^barecpc: exit 4$' scripts/barecpc run --arch "$arch" \
		--accel tcg --payload "$tap_dir/joined.cpio" "$@"
	check "$name: two programs count exactly at the same time" both_counted
	grep -vE '^(count|HELLO)' "$out" >"$tap_dir/got"
	check "$name: pipes carry each byte, and quoted words are arguments" diff "$tap_dir/lines" "$tap_dir/got"
	sed -n '/^host:/d; s/^barecpc: //p' "$err" | sed -E '/^((arm64|x86_64), version [0-9.]*|exit 4)$/d; s/ at pc [^:]*:/:/; s/(such program) .*/\1/
		' >"$tap_dir/got"
	check "$name: the log names each failure, and no leak" diff "$tap_dir/log" "$tap_dir/got"
}

# line NAME STATUS PATTERN words...
line() {
	name=$1
	status=$2
	pattern=$3
	shift 3
	expect "$name" "$status" "$pattern" scripts/barecpc run --arch "$arch" --accel tcg --append timeout=1 \
		--payload "$tap_dir/joined" --payload "$tap_dir/hello" -- "$@"
}

for arch in arm64 x86_64; do
	for program in kernel/joined hello; do
		scripts/barecpc-cc --arch $arch -O2 -Wall -Werror -o "$tap_dir/${program#*/}" tests/cli/programs/$program.c -lm
	done
	scripts/mkcpio -o "$tap_dir/joined.cpio" "$tap_dir/suite" "$tap_dir/joined" "$tap_dir/hello"
	joined "$arch: one CPU"
	joined "$arch: two CPUs" --qemu pmu --smp 2
	line "$arch: a pipe on the command line" 0 '^barecpc: exit 0$' joined lines 3 '|' joined copy
	check "$arch: its output" sh -c "seq 3 | cmp - '$out'"
	line "$arch: words that are not operators" 0 '^barecpc: exit 0$' hello 0 '\|' '\&' 'a & b' 'a|b' ''
	words >"$tap_dir/want"
	check "$arch: they are arguments" sh -c "grep -v HELLO '$out' | cmp - '$tap_dir/want'"
	line "$arch: an operator without a program" 125 "^barecpc: command line: no program after .[|]': name one" hello 0 '|'
	line "$arch: each program has the time limit" 124 '^barecpc: joined: timed out' joined sleep '&' joined exit 1
	line "$arch: the programs are one process group" 143 '^barecpc: joined: SIGTERM' joined sleep '&' joined stop
done
end
