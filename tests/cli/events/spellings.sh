#!/bin/sh
# A name of libpfm4's means here what the installed libpfm4 makes of it.  If a vendor has a name so spelled, the vendor's code
# is right instead: tests/host/events/vendor_answers.c compares that.  A libpfm4 knows the CPUs of one architecture.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# The differences with a reason.  These are the vendor's event with unit mask 00H (docs/events.md).
# libpfm4 has Intel's precise ones on Sandy Bridge, and other unit masks on Goldmont.
expected() {
	grep -vxE '(snb|snb_ep) BR_(INST|MISP)_RETIRED 0x5304c[45]|glm (FETCH_STALL|CPU_CLK_UNHALTED) 0x[0-9a-f]+'
}

gcc -O1 -o "$tap_dir/codes" events/mktables/file/codes.c -lpfm 2>"$err" || {
	skip "libpfm4's names" 'libpfm4-dev is not installed: scripts/setup'
	end
	exit
}
"$tap_dir/codes" >"$tap_dir/names"
# shellcheck disable=SC2046 # words
check 'the program is built' gcc -O1 -I. -o "$tap_dir/spellings" tests/cli/programs/spellings.c \
	$(find events/encode*.c events/nearer.c events/vendors.c events/names events/generated -name '*.c')
"$tap_dir/spellings" <"$tap_dir/names" >"$out"
awk '/^[^#]/ { name = toupper($1); gsub(/[:.]/, "_", name); print name }' tests/vendors/*.txt | sort -u >"$tap_dir/vendors"
sed '$d' "$out" | expected | while read -r pmu name code; do
	echo "$name" | tr ':.' __ | grep -qxFf - "$tap_dir/vendors" || echo "$pmu $name $code"
done >"$tap_dir/wrong"
check "each of libpfm4's names that we have has its code: $(tail -n 1 "$out")" test ! -s "$tap_dir/wrong"
check 'most are here' test "$(sed -n '$s/ equal.*//p' "$out")" -gt $(($(wc -l <"$tap_dir/names") * 3 / 4))
end
