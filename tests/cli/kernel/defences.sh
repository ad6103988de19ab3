#!/bin/sh
# A mistake in the kernel ends in one line that names it.  The kernel makes each mistake itself (kern/debug/test_hooks.c).
# They are undefined behaviour (built with SAN=ubsan) and a smashed stack.
# Under checks=poison they are a write to a freed page or block, or past the end of a block.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

for arch in arm64 x86_64; do
	case $arch in
	arm64) image=Image ;;
	*) image=kernel.elf ;;
	esac
	make -s ARCH=$arch SAN=ubsan >"$tap_dir/make" 2>&1 || not_ok "$arch: SAN=ubsan builds" "$(tail -n 5 "$tap_dir/make")"

	# caught DEBUG LINE [image]
	caught() {
		expect "$arch: $1" 125 "$2" scripts/barecpc run --arch $arch --accel tcg --append "checks=$1" \
			--image "${3:-build/$arch/$image}" -- spin -n
	}
	caught undefined '^kernel fault: undefined behaviour \(UBSan: (ud2|brk)\) at pc 0x[0-9a-f]+ \(test_crash\+' \
		"build/$arch-ubsan/$image"
	caught smash '^panic: stack of smash_stack was smashed, found at its end: '
	caught poison,freed-page '^panic: mem: page 0x[0-9a-f]+ was written after it was freed: at \+0x7d0 '
	caught poison,freed-block '^panic: mem: block 0x[0-9a-f]+ of up to 112 bytes was written after it was freed: at \+0x30 '
	caught poison,past-block '^panic: mem: block 0x[0-9a-f]+ of 100 bytes was written past its end: at \+0x64 '
	caught poison,past-large '^panic: mem: block 0x[0-9a-f]+ of 5000 bytes was written past its end: at \+0x1388 '
done
expect 'checks= takes known words only' 125 "^barecpc: command line: .checks=poisson.: not poison" \
	scripts/barecpc run --arch arm64 --accel tcg --append checks=poisson -- spin -n
end
