#!/bin/sh
# A payload that misbehaves ends with one line that says why and where, and the suite continues.  Each architecture
# boots once with all cases.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# ended ARCH NAME SIGNAL PATTERN: the case NAME ended with SIGNAL; PATTERN has the place and the reason.
ended() {
	if grep -qE "^barecpc: fault: $3 at pc 0x[0-9a-f]+,? $4" "$err"; then
		ok "$1 $2"
	else
		not_ok "$1 $2" "no line matches: fault: $3 at pc ... $4"
	fi
}

# faults ARCH PRIVILEGE CASES...: run all cases in one boot.
faults() {
	arch=$1
	priv=$2
	shift 2
	printf 'fault %s\n' "$@" do_nothing >"$tap_dir/suite"
	scripts/mkcpio -o "$tap_dir/faults.cpio" "$tap_dir/fault" "$tap_dir/suite"
	scripts/barecpc run --arch "$arch" --accel tcg --append "priv=$priv" --payload "$tap_dir/faults.cpio" \
		>"$out" 2>"$err" </dev/null
	check "$arch $priv: the status is the first failure's" test $? = 139
	ended "$arch $priv" read_null SIGSEGV '\(read_null\+0[x0-9a-f]*\), address 0(x0)?: not mapped'
	ended "$arch $priv" write_text SIGSEGV '\(write_text\+0[x0-9a-f]*\), address 0x[0-9a-f]+: '
	ended "$arch $priv" run_data SIGSEGV '.*address 0x[0-9a-f]+: '
	ended "$arch $priv" read_nowhere SIGSEGV '\(read_nowhere\+0[x0-9a-f]*\)'
	ended "$arch $priv" overflow_stack SIGSEGV '\(overflow_stack\+0[x0-9a-f]*\), address 0x[0-9a-f]+: .*stack'
	check "$arch $priv: smash_stack, at any PC" \
		grep -qE '^barecpc: fault: SIG(SEGV|BUS) at pc (0x11111|.*\(smash_stack)' "$err"
	ended "$arch $priv" run_undefined SIGILL '\(run_undefined\+0[x0-9a-f]*\)'
	ended "$arch $priv" run_breakpoint SIGTRAP '\(run_breakpoint\+0[x0-9a-f]*\)'
	# On arm64 a division by zero gives zero.
	[ "$arch" = arm64 ] || ended "$arch $priv" divide SIGFPE '\(divide\+0[x0-9a-f]*\)'
	check "$arch $priv: a hostile pointer is named, once" \
		test "$(grep -cE '^barecpc: fault: .*0xffffffff80000000.*EFAULT' "$err")" = 1
	for call in 'cpc at pc .*0x10' 'barecpc_phys at pc .*0x18'; do
		check "$arch $priv: with its system call: $call" grep -qE "^barecpc: fault: $call: EFAULT" "$err"
	done
	check "$arch $priv: permitted operations succeed" \
		test "$(grep -cE '^barecpc: fault: (exit 1$|.*\((call_without_stack|exhaust_memory))' "$err")" = 0
	check "$arch $priv: the last program still runs" grep -qx alive "$out"
	check "$arch $priv: nothing leaks" sh -c "! grep -i leak '$err'"
}

anywhere='read_null write_text run_data read_nowhere overflow_stack smash_stack run_undefined run_breakpoint divide
	pass_kernel_pointer pass_counters_pointer pass_phys_pointer call_without_stack exhaust_memory abort_self'
for arch in arm64 x86_64; do
	scripts/barecpc-cc --arch "$arch" -O1 -o "$tap_dir/fault" tests/cli/programs/kernel/fault.c
	# A program at system privilege could damage the kernel.  Its mistakes are reported nevertheless.
	# shellcheck disable=SC2086 # words
	faults "$arch" system $anywhere
	# shellcheck disable=SC2086 # words
	faults "$arch" user $anywhere read_kernel write_kernel run_kernel run_privileged
	ended "$arch" read_kernel SIGSEGV '\(read_kernel\+0[x0-9a-f]*\), address 0xffffffff80000000: '
	ended "$arch" write_kernel SIGSEGV '\(write_kernel\+0[x0-9a-f]*\), address 0xffffffff80000000: '
	check "$arch: run_kernel" grep -qE '^barecpc: fault: SIGSEGV .*address 0xffffffff80000000: ' "$err"
	ended "$arch" run_privileged '(SIGILL|SIGSEGV)' '\(run_privileged\+0[x0-9a-f]*\)'
	expect "$arch: timeout= ends a program" 124 '^barecpc: fault: .*time' scripts/barecpc run \
		--arch "$arch" --accel tcg --payload "$tap_dir/faults.cpio" --append timeout=1 -- fault never_end
done

expect '--timeout ends a program' 124 '^host: timed out after 3 s' \
	scripts/barecpc run --arch x86_64 --accel tcg --payload "$tap_dir/faults.cpio" --timeout 3 -- fault never_end
# glibc asks whether its output is a terminal, and then keeps no line back.
cat >"$tap_dir/crash.c" <<'END'
#include <stdio.h>
#include <stdlib.h>

int
main(void)
{
	printf("before the crash\n");
	abort();
}
END
for tools in aarch64-linux-gnu:arm64 x86_64-linux-gnu:x86_64; do
	"${tools%:*}-gcc" -static -O1 -o "$tap_dir/crash" "$tap_dir/crash.c"
	expect "${tools#*:}: a glibc program that crashes, on the raw console" 134 '^barecpc: exit 134' \
		scripts/barecpc run --arch "${tools#*:}" --accel tcg --append output=text --payload "$tap_dir/crash"
	check "${tools#*:}: its output before the crash is there" grep -q '^before the crash' "$out" "$err"
done
end
