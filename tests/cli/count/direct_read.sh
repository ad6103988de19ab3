#!/bin/sh
# A program may read PICs while its own set is bound to its LWP.  At any other time the read ends the program.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

run() {
	scripts/barecpc run --arch "$1" --accel tcg --cpu "$2" --payload "$tap_dir/direct" -- direct "$3"
}

# refused ARCH STATUS SIGNAL CPU...: a program that reads a PIC without permission ends this way.
refused() {
	arch=$1 status=$2 pattern="$3 at pc 0x[0-9a-f]+ \\(pic_read"
	shift 3
	scripts/barecpc-cc --arch "$arch" -O2 -o "$tap_dir/direct" tests/cli/programs/direct_read.c tests/lib/image/"$arch"/pic_read.S
	for cpu; do
		expect "$arch, $cpu: CPC-CTX-07: read without a context" "$status" "$pattern" run "$arch" "$cpu" never
		expect "$arch, $cpu: CPC-UNB-02: read after unbind" "$status" "$pattern" run "$arch" "$cpu" unbound
		check "$arch, $cpu: the read before that succeeds" grep -qx 'read while bound' "$out"
	done
}

refused arm64 132 SIGILL max cortex-a72
if scripts/qemu-pmu --built; then
	refused x86_64 139 SIGSEGV intel-v5 intel-v1 amd-v2
else
	skip 'x86_64' 'scripts/qemu-pmu --path x86_64 would have to build it first'
fi
end
