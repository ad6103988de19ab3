#!/bin/sh
# Each name that an emulated CPU models counts what the code of its vendor's file counts.  The codes come from
# tests/vendors/, not from the tables.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

[ "${BARECPC_BUILD-}" = no ] || make -s tests >&2 || exit 1

# codes FILE KEY: the names of a vendor's file, each with a raw event: its code, and the value of its extra MSR.  Fixed
# PICs 0 and 1 have codes, too.  Cascade Lake has 2,016 offcore responses: 1,260 of them are enough.  OFFCORE_RESPONSE
# alone is no event: tests/vendors/excluded.txt.
codes() {
	awk -v key="$2" '$1 !~ /^(cpu|out|#|OFFCORE_RESPONSE)$/ {
		for (i = 4; i <= NF && $i != key; i++)
			;
		split($2, code, ",")
		if (i <= NF && $3 !~ /^0:0:[^12]/ && ($1 !~ /request=/ || NR % 4 == 0))
			print $1, $3 ~ /^0:/ ? code[2] : code[1]
	}' "tests/vendors/$1" | sed -E 's/ ([0-9a-f]+)$/ r\1/; s/ (.*)(..):(.*=)(.*)/ cpu\/event=0x\2,umask=0x\1,\30x\4\//
		s/,1a[67]=/,offcore_rsp=/; s/,3f6=/,ldlat=/; s/,3f7=/,frontend=/'
}

mkdir "$tap_dir/vendor"
# counts ARCH FILE KEY CPU: a point: cpc_vendor passes on this CPU.
counts() {
	codes "$2" "$3" >"$tap_dir/vendor/codes"
	cp "build/$1/tests/cpc_vendor" "$tap_dir/vendor"
	if scripts/barecpc run --arch "$1" --accel tcg --qemu pmu --cpu "$4" --payload "$tap_dir/vendor" -- vendor/cpc_vendor \
		>"$out" 2>"$err" </dev/null; then
		ok "$3: $(sed -n 's/^# \(.* counted, .*\)/\1/p' "$out")"
	else
		not_ok "$3" "$(tail -n 20 "$out" "$err")"
	fi
}

# intel: the same for each line of the input: a key, and a CPU.
intel() {
	while read -r key cpu; do
		counts x86_64 intel.txt "$key" "$cpu"
	done
}

v5=$(scripts/qemu-pmu --cpu intel-v5)
intel <<END
	hsw Haswell,check=off,pmu=on,pmu-version=3,pmu-counters=8
	icx $v5,family=6,model=106
END
counts arm64 arm.txt neoverse-n2 neoverse-n2
if [ "${BARECPC_CAMPAIGN-}" != yes ]; then
	end
	exit
fi

intel <<END
	nhm-ep Nehalem,pmu=on,pmu-version=3
	wsm-ep-dp Westmere,pmu=on,pmu-version=3
	clx Cascadelake-Server,check=off,pmu=on,pmu-version=4
	snb SandyBridge,check=off,pmu=on,pmu-version=3,pmu-counters=8
	ivt IvyBridge,check=off,model=62,pmu=on,pmu-version=3,pmu-counters=8
	bdw Broadwell,check=off,pmu=on,pmu-version=3,pmu-counters=8
	skl Skylake-Client,check=off,pmu=on,pmu-version=4,pmu-counters=8
	emr $v5,family=6,model=207
	icl $v5,family=6,model=126
	spr $v5,family=6,model=143
	gnr $v5,family=6,model=173
	srf $v5,family=6,model=175
	glm Denverton,check=off,pmu=on,pmu-version=4
	snr Snowridge,check=off,pmu=on,pmu-version=5
	knl KnightsMill,check=off,pmu=on,pmu-version=3,pmu-counters=2
END
for key in neoverse-n1 neoverse-v1 cortex-a710 cortex-a55 cortex-a76; do
	counts arm64 arm.txt "$key" "$key"
done
end
