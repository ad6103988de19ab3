#!/bin/sh
# One file of /tmp comes home, byte for byte, or one line says why not.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

cat >"$tap_dir/make.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Write this many bytes to /tmp/NAME, with the marks of frames among them, and make a link to it. */
int
main(int argc, char **argv)
{
	char path[64];
	long n = argc > 2 ? atol(argv[2]) : 0;
	FILE *f;

	snprintf(path, sizeof path, "/tmp/%s", argv[1]);
	if ((f = fopen(path, "w")) == NULL)
		return 1;
	for (long i = 0; i < n; i++)
		fputc(i % 100 < 13 ? "BARECPC-END\n\r"[i % 100] : (int)(i * i >> 3 & 0xff), f);
	return fclose(f) != 0 || (argc > 3 && link(path, argv[3]) != 0);
}
END
gcc -O1 -o "$tap_dir/here" -x c - <<END || exit 1
$(sed 's|"/tmp/%s"|"%s"|' "$tap_dir/make.c")
END
# run options...: with the program of $arch.
run() {
	scripts/barecpc run --arch "$arch" --accel tcg --payload "$tap_dir/make" "$@"
}

for arch in arm64 x86_64; do
	scripts/barecpc-cc --arch $arch -O1 -o "$tap_dir/make" "$tap_dir/make.c"
	rm -f "$tap_dir/home"
	expect "$arch: 100,000 bytes" 0 '^barecpc: exit 0' run --out /tmp/result="$tap_dir/home" -- make linked 100000 /tmp/result
	(cd "$tap_dir" && ./here wanted 100000)
	check "$arch: they are the same" cmp "$tap_dir/wanted" "$tap_dir/home"
done
expect 'an empty file' 0 '^barecpc: exit 0' run --out /tmp/result="$tap_dir/home" -- make result 0
check 'it is there, and empty' test -f "$tap_dir/home" -a ! -s "$tap_dir/home"
expect 'a file that is not made' 0 '^barecpc: out: /tmp/other: no program made this file$' \
	run --out /tmp/other="$tap_dir/none" -- make result 10
check 'nothing is written' test ! -e "$tap_dir/none"
expect 'a file of more than 16 MiB' 0 '^barecpc: out: /tmp/result: 16777217 bytes: at most 16777216 are sent$' \
	run --mem 512M --out /tmp/result="$tap_dir/none" -- make result 16777217
expect 'two files' 125 '^host: --out /tmp/b: one file of /tmp comes home: ' run --out /tmp/a --out /tmp/b -- make a 1
expect 'a file in a folder' 125 '/tmp/a/b: not of the form NAME=FILE or /tmp/NAME; see barecpc run --help$' run --out /tmp/a/b -- make a 1
end
