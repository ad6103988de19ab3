#!/bin/sh
# A program may read PICs while a set of its own is bound to its LWP, and is ended by the read at any other time.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

run() {
	scripts/barecpc run --arch arm64 --accel tcg --cpu "$1" --payload "$tap_dir/direct" -- direct "$2"
}

scripts/barecpc-cc --arch arm64 -O2 -o "$tap_dir/direct" tests/cli/direct.c tests/image/arm64/pic_read.S
for cpu in max cortex-a72; do
	expect "$cpu: CPC-CTX-07: read without a context" 132 'SIGILL at pc 0x[0-9a-f]+ \(pic_read' run $cpu never
	expect "$cpu: CPC-UNB-02: read after unbind" 132 'SIGILL at pc 0x[0-9a-f]+ \(pic_read' run $cpu unbound
	check "$cpu: and before it all was well" grep -qx 'read while bound' "$out"
done
end
