#!/bin/sh
# A payload at system privilege changes nothing on the host, and cannot make its run look as if it had passed.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

scripts/barecpc-cc --arch arm64 -O2 -Wall -Wextra -Werror -o "$tap_dir/knock" tests/cli/programs/kernel/knock.c

# knock NAME STATUS PATTERN WORDS...: the program knock, with these words, at system privilege.
knock() {
	tap_knock=$1
	tap_ends=$2
	tap_line=$3
	shift 3
	expect "$tap_knock" "$tap_ends" "$tap_line" scripts/barecpc run --arch arm64 --accel tcg \
		--append priv=system --payload "$tap_dir/knock" -- knock "$@"
}

knock 'semihosting opens no file' 132 '^barecpc: knock: SIGILL' open "$tap_dir/opened"
check 'the file does not exist' test ! -e "$tap_dir/opened"
knock 'semihosting runs no command' 132 '^barecpc: knock: SIGILL' system "touch $tap_dir/touched"
check 'the command did not run' test ! -e "$tap_dir/touched"
knock 'semihosting ends no run' 132 '^barecpc: knock: SIGILL' exit
knock 'a program that powers off fails' 125 '^host: the guest was powered off before its closing line' off
knock 'a program that resets fails' 125 '^host: the guest was reset before its closing line' reset

# An emulator that records its own filter mode: 2 is seccomp(2) with a filter.
cat >"$tap_dir/qemu" <<END
#!/bin/sh
case \$* in
*' help') ;;
*) (until grep -qsx 2 $tap_dir/seccomp; do sleep 0.1; sed -n 's/^Seccomp:[[:space:]]*//p' /proc/\$\$/status >$tap_dir/seccomp || break; done) & ;;
esac
exec qemu-system-aarch64 "\$@"
END
chmod +x "$tap_dir/qemu"
# A guest that loops, so that its emulator can be inspected.
printf '\0\0\0\024' >"$tap_dir/loop"
expect 'a guest that loops' 124 '^host: timed out' scripts/barecpc run --arch arm64 --accel tcg --qemu "$tap_dir/qemu" \
	--image "$tap_dir/loop" --silence 0 --timeout 10
check 'its emulator is in a sandbox' test "$(cat "$tap_dir/seccomp")" = 2
end
