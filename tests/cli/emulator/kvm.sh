#!/bin/sh
# The image runs and counts exactly as a guest of a real KVM, that of a Linux in emulation.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

for arch in arm64 x86_64; do
	records=$tap_dir/$arch.jsonl
	# Each character of the inner console leaves the inner guest twice, some ten thousand instructions in emulation.
	# So `pack` runs the suite: its records are a tenth as long, and are read in full.
	check "$arch: the default suite exits 0" \
		scripts/barecpc run --arch $arch --accel nested-kvm --timeout 600 --results "$records" -- pack
	check "$arch: spin counts exactly at user privilege, in each run on each PIC" python3 - "$records" <<-'PY'
		import json, sys
		seen = 0
		for record in map(json.loads, open(sys.argv[1])):
		    if (record["payload"], record["event"], record["privilege"]) == ("spin", "PAPI_tot_ins", "user"):
		        assert set(record["count"]["measured"]["raw"]) == {4000}, record
		        seen += 1
		assert seen >= 6, seen
	PY
	check "$arch: records name KVM and the outer machine" python3 - "$records" <<-'PY'
		import json, sys
		records = list(map(json.loads, open(sys.argv[1])))
		assert records
		for record in records:
		    machine = record["machine"]
		    assert machine["vmm"] == "kvm", machine
		    assert machine["host"]["accel"] == "nested-kvm" and "TCG" in machine["host"]["outer"], machine
		    assert machine["models"] == "listed", machine
	PY
	check "$arch: the probe chooses this KVM" sh -c "tests/kvm/probe $arch | grep -qx '$arch: auto is kvm, which counts'"
done

# The timer by TSC deadline, which TCG does not have: a wait until time 0 ends.
# The outer emulator does not model cache misses.  KVM hides its list: the run passes it on.
expect 'x86_64: waits end at their time, cache misses have a reason' 0 \
	'^# stat: cache-misses: .*: this emulator does not model event 0x964' \
	scripts/barecpc run --arch x86_64 --accel nested-kvm --timeout 600 --payload build/x86_64/tests.cpio \
	-- stat -e instructions,cache-misses futex
check 'x86_64: cache misses are not counted' grep -qE '^ +<not supported> +cache-misses' "$err"
check 'x86_64: instructions are counted' grep -qE '^ +[0-9]+ +instructions' "$err"

if [ "${BARECPC_CAMPAIGN-}" = yes ]; then
	# Without the list the count is the 0 of a counter that stands still, and the record says that it may be.
	check 'x86_64: a run without the list' scripts/barecpc run --arch x86_64 --accel nested-kvm --timeout 600 \
		--append models=any --results "$tap_dir/any.jsonl" -- spin -e cache-misses
	check 'x86_64: its records say models: unknown' python3 - "$tap_dir/any.jsonl" <<-'PY'
		import json, sys
		records = list(map(json.loads, open(sys.argv[1])))
		assert records
		for record in records:
		    assert record["status"] == "counted" and set(record["count"]["measured"]["raw"]) == {0}, record
		    assert record["machine"]["models"] == "unknown", record["machine"]
	PY
	# The leaves of Hyper-V, which Azure's guests have.
	expect 'x86_64: an MSR of Hyper-V has the rate of the TSC' 0 '^cpu: TSC 1000000000 Hz by MSR 40000022H ' \
		scripts/barecpc run --arch x86_64 --accel nested-kvm --timeout 600 \
		--cpu host,tsc-frequency=1000000000,hv-frequencies=on,hv-relaxed=on,hv-vpindex=on,hv-time=on -- spin -n
	# The outer Linux takes the CPU some hundred times in between.
	check 'arm64: 40 million instructions are exact' \
		scripts/barecpc run --arch arm64 --accel nested-kvm --timeout 600 -- spin 1000 20001000
	for arch in arm64 x86_64; do
		check "$arch: without a PMU the probe says what was lost" \
			sh -c "tests/kvm/probe $arch pmu=off | grep -qx '$arch: KVM works, but gives its guests no PMU'"
	done
fi
end
