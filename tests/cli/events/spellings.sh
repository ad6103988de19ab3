#!/bin/sh
# A name of libpfm4's means here what the installed libpfm4 makes of it.  If a vendor has a name so spelled, the vendor's code
# is right instead: tests/host/events/vendor_answers.c compares that.  A libpfm4 knows the CPUs of one architecture.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# The differences with a reason.  These are the vendor's event with unit mask 00H (docs/events.md).
# libpfm4 has Intel's precise ones on Sandy Bridge, and other unit masks on Goldmont.  Two aliases of Core's have a unit mask
# or a counter mask, and libpfm4 takes another.
expected() {
	grep -vxE '(snb|snb_ep) BR_(INST|MISP)_RETIRED 0x5304c[45]|glm (FETCH_STALL|CPU_CLK_UNHALTED) 0x[0-9a-f]+' |
		grep -vxE 'core (BRANCH_INSTRUCTIONS_RETIRED:0x41|RS_UOPS_DISPATCHED_NONE:c=1:c=2) refused'
}

if [ ! -e /usr/include/perfmon/pfmlib.h ]; then
	skip "libpfm4's names" 'libpfm4-dev is not installed: scripts/setup'
	end
	exit
fi
# shellcheck disable=SC2046 # words
check 'the program is built' gcc -O1 -I. -o "$tap_dir/spellings" tests/cli/programs/spellings.c \
	$(find events/encode*.c events/amd_pics.c events/nearer.c events/vendors.c events/names events/generated -name '*.c') -lpfm
"$tap_dir/spellings" >"$out"
awk '/^[^#]/ { name = toupper($1); gsub(/[:.]/, "_", name); print name }' tests/vendors/*.txt | sort -u >"$tap_dir/vendors"
sed '$d' "$out" | expected | while read -r pmu name code; do
	echo "$name" | tr ':.' __ | grep -qxFf - "$tap_dir/vendors" || echo "$pmu $name $code"
done >"$tap_dir/wrong"
check "each of libpfm4's names that we have has its code: $(tail -n 1 "$out")" sh -c "! grep . '$tap_dir/wrong'"
check 'most are here' test "$(sed -n '$s/ equal.*//p' "$out")" -gt 1000
end
