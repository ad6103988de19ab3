#!/bin/sh
# kernel_limit= ends the run if one entry to the kernel takes longer than the limit, and names the call.
# No call that programs make exceeds the limit that tests/cli/costs.md derives.  tests/list and other scripts use it, too.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

limit=$(sed -n 's/^kernel_limit=\([0-9]*\)$/\1/p' tests/cli/costs.md)
check 'the limit is documented' expr "$limit" : '[1-9][0-9]*$'
sed -n 's/.*kernel_limit=\([0-9][0-9]*\).*/\1/p' tests/list tests/cli/kernel/hostile.sh tests/cli/kernel/chaos.sh tests/cli/kernel/syscall_fuzz.sh | sort -u >"$tap_dir/used"
check 'other tests use this limit' [ "$(cat "$tap_dir/used")" = "$limit" ]

# run ARCH LIMIT options...
run() {
	arch=$1
	words=$2
	shift 2
	scripts/barecpc run --arch "$arch" --accel tcg --payload "build/$arch/tests.cpio" --append "kernel_limit=$words" "$@"
}

took='at pc 0x[0-9a-f]+.* took [0-9]+ instructions in the kernel, for [0-9]+ page\(s\): [0-9]+ and [0-9]+ for each are allowed$'
for arch in arm64 x86_64; do
	# The program entries wakes and ends 1,000 LWPs in one call.
	expect "$arch: a call too long" 125 "^barecpc: kernel_limit: entries: (open|openat|futex|exit_group|kill|tkill|tgkill) $took" \
		run $arch 60000 -- entries
	expect "$arch: a limit that is not a number" 125 'kernel_limit=x.: not a number of instructions' run $arch x -- startup
	expect "$arch: several CPUs" 125 '^barecpc: kernel_limit= watches one CPU, and there are 2: add cpus=1' \
		run $arch "$limit" --smp 2 -- startup
	# `run` ends a kernel that never returns, and says where it is.  A busy machine needs longer to come there.
	scripts/barecpc-cc --arch $arch -O1 -o "$tap_dir/provoke" tests/cli/programs/kernel/provoke.c tests/cli/programs/kernel/provoke_$arch.c
	at=$(nm build/$arch/kernel.elf | sed -n 's/ T sys_getpid$//p')
	for seconds in 4 15 60; do
		scripts/barecpc run --arch $arch --accel tcg --timeout $seconds --append priv=system \
			--payload "$tap_dir/provoke" -- provoke "loop@$at" call >"$out" 2>"$err" </dev/null
		! grep -q 'PC .*sys_getpid+' "$err" || break
	done
	check "$arch: a call that never returns" \
		grep -qE '^host: timed out after [0-9]+ s: provoke, at least [0-9]+ s after its start; PC 0xffffffff[0-9a-f]{8} \(sys_getpid\+0x[0-4]\); ' "$err"
	# The longest way is the timer interrupt that wakes 1,000 LWPs.  The kill of 1,000 would be longer if the program's
	# symbols were at 4 modulo 8 bytes.  The file before the program would have them there without mkcpio's alignment.
	echo x >"$tap_dir/before12"
	scripts/mkcpio -o "$tap_dir/entries.cpio" build/$arch/tests/entries "$tap_dir/before12"
	expect "$arch: no call exceeds the limit" 0 '^barecpc: kernel_limit: at most: an interrupt of the idle CPU took ' \
		scripts/barecpc run --arch "$arch" --accel tcg --payload "$tap_dir/entries.cpio" --append "kernel_limit=$limit" -- entries
	grep -E '^not ok|^# tests/' "$out" | sed 's/^/# /'
	sed -n 's/^barecpc: kernel_limit:/#/p' "$err"
done
end
