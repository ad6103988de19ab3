# TAP for shell tests: sourced by those of tests/cli, which run from the project's root.
# shellcheck shell=sh

tap_points=0
tap_failed=0
tap_dir=$(mktemp -d)
trap 'rm -rf "$tap_dir"' EXIT
out=$tap_dir/out
err=$tap_dir/err

# ok NAME | not_ok NAME [diagnostic]: print one point.
ok() {
	tap_points=$((tap_points + 1))
	echo "ok $tap_points - $1"
}

not_ok() {
	tap_points=$((tap_points + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_points - $1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/# /' | cut -c 1-300
}

# skip NAME WHY: print a skipped point.
skip() {
	tap_points=$((tap_points + 1))
	echo "ok $tap_points - $1 # SKIP $2"
}

# check NAME command...: a point that passes if the command does.
check() {
	tap_name=$1
	shift
	if "$@" >"$tap_dir/check" 2>&1; then
		ok "$tap_name"
	else
		not_ok "$tap_name" "$*
$(cat "$tap_dir/check")"
	fi
}

# expect NAME STATUS PATTERN command...: run the command into $out and $err.  The point passes if it ends with STATUS
# and a line of $err matches the extended PATTERN.
expect() {
	tap_name=$1
	tap_want=$2
	tap_pattern=$3
	shift 3
	tap_status=0
	"$@" >"$out" 2>"$err" </dev/null || tap_status=$?
	if [ "$tap_status" != "$tap_want" ]; then
		not_ok "$tap_name" "status $tap_status, not $tap_want
$(tail -n 8 "$err")"
	elif ! grep -qE -e "$tap_pattern" "$err"; then
		not_ok "$tap_name" "no line matches: $tap_pattern
$(tail -n 8 "$err")"
	else
		ok "$tap_name"
	fi
}

# fake_emulators: the folder $tap_dir/bin, whose emulators are tests/cli/lib/fake-qemu.
fake_emulators() {
	mkdir "$tap_dir/bin"
	for tap_tool in qemu-system-aarch64 qemu-system-x86_64; do
		ln -s "$PWD/tests/cli/lib/fake-qemu" "$tap_dir/bin/$tap_tool"
	done
}

# fake_command NAME: make a command in the folder $tap_dir/bin, whose script is standard input.
fake_command() {
	mkdir -p "$tap_dir/bin"
	{ echo '#!/bin/sh' && cat; } >"$tap_dir/bin/$1"
	chmod +x "$tap_dir/bin/$1"
}

# end: print the plan; the status says whether all points passed.  Without a point the test fails.
end() {
	[ "$tap_points" != 0 ] || not_ok 'nothing was checked'
	echo "1..$tap_points"
	[ "$tap_failed" = 0 ]
}
