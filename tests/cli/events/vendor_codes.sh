#!/bin/sh
# Each name that an emulated CPU models counts what the code of its vendor's file counts.  The codes come from
# tests/vendors/, not from the tables.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

[ "${BARECPC_BUILD-}" = no ] || make -s tests >&2 || exit 1

# codes FILE KEY: the names of a vendor's file, each with a raw event: its code, and the value of its extra MSR.  Only each
# fourth offcore response is there: Cascade Lake has 2,016.
codes() {
	awk -v key="$2" '
	function term(select, name, value) {
		return "cpu/event=0x" substr(select, length(select) - 1) ",umask=0x" substr(select, 1, length(select) - 2) \
		    "," name "=0x" value "/"
	}
	$1 == "cpu" || $1 == "out" || $1 == "#" { next }
	{
		for (i = 5; i <= NF && $i != key; i++)
			;
		split($2, selects, ",")
		split($4, extra, /[,=]/)
		code = "r" selects[1]
		if ($3 ~ /^fixed/)
			code = $2 == "100" ? "rc0" : $2 == "200" ? "r3c" : ""
		else if (extra[1] ~ /^1a/)
			code = term(selects[1], "offcore_rsp", substr($4, index($4, "=") + 1))
		else if ($4 ~ /^3f6/)
			code = term(selects[1], "ldlat", extra[2])
		else if ($4 ~ /^3f7/)
			code = term(selects[1], "frontend", extra[2])
		if (i <= NF && code != "" && (code !~ /offcore/ || NR % 4 == 0))
			print $1, code
	}' "tests/vendors/$1"
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
	snb SandyBridge,check=off,pmu=on,pmu-version=3,pmu-counters=8
	ivt IvyBridge,check=off,model=62,pmu=on,pmu-version=3,pmu-counters=8
	bdw Broadwell,check=off,pmu=on,pmu-version=3,pmu-counters=8
	skl Skylake-Client,check=off,pmu=on,pmu-version=4,pmu-counters=8
	clx Cascadelake-Server,check=off,pmu=on,pmu-version=4,pmu-counters=8
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
