#!/bin/sh
# arm64's tables of accesses to event counters: entry n accesses counter n, for all counters of the architecture.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# entries OBJECT LABEL BYTES AT INSTRUCTION REGISTER: entry n has BYTES bytes; its instruction at AT accesses REGISTER<n>_EL0.
entries() {
	aarch64-linux-gnu-objdump -d --no-show-raw-insn "$1" | awk -v label="<$2>:" -v bytes="$3" -v at="$4" -v insn="$5" -v reg="$6" '
		BEGIN { n = 0 }
		on && NF == 0 { exit }
		on && place % bytes == at && n < 31 {
			if ($2 != insn || !index($0, reg n "_el0")) { print "entry " n ": " $0; bad = 1 }
			n++
		}
		on { place += 4 }
		$2 == label { on = 1 }
		END { print n " entries"; exit bad || n != 31 }'
}

check 'a program reads counter n' entries build/arm64/cpc/arm64/read.o pics 8 0 mrs pmevcntr
check 'the kernel folds counter n' entries build/arm64/arch/arm64/pmu/pmuv3_pics.o folds 32 0 mrs pmevcntr
check 'the kernel samples counter n' entries build/arm64/arch/arm64/pmu/pmuv3_pics.o samples 32 0 mrs pmevcntr
check 'the kernel writes event n' entries build/arm64/arch/arm64/pmu/pmuv3_pics.o loads 16 0 msr pmevtyper
check 'the kernel writes counter n' entries build/arm64/arch/arm64/pmu/pmuv3_pics.o loads 16 4 msr pmevcntr
end
