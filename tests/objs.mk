# tests/: what make check builds and runs.
host-tests: $(patsubst %,build/host/tests/%,$(HOST_TESTS) $(REGS_TESTS) cpc/threads) host-tools
host-tools: $(HOST_TOOLS) $(EVENT_FILES)

# check: every test; check-host: host tests; check-image: tests that boot.  The last line is the verdict.
# All cores build, unless -j says how many.
check check-all: NEEDS = tests host-tests fuzz-targets emulator ubsan
check: CHECK =
check-all: CHECK = --all $(if $(RESUME),--resume)
check-host: NEEDS = host-tests
check-host: CHECK = tests/host
check-image: NEEDS = tests fuzz-targets emulator ubsan
check-image: CHECK = tests/image tests/cli
check-kvm: NEEDS = tests emulator
check-kvm: CHECK = kvm noise $(shell awk '$$1 ~ /^kvm-/ { print $$1 }' tests/list)
check check-all check-host check-image check-kvm:
	$(Q)$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc)) $(NEEDS)
	$(Q)BARECPC_BUILD=no tests/run $(CHECK)
# After the plain kernels, whose programs it takes.
ubsan: tests
	$(Q)for a in $(ARCHS); do $(MAKE) --no-print-directory ARCH=$$a SAN=ubsan all || exit; done
# Seeded changes of the code, each run against its tests.
mutants: host-tests tests emulator
	$(Q)tests/mutants --seed $(or $(SEED),1) --number $(or $(NUMBER),40)
.PHONY: mutants
# QEMU with an x86 PMU: minutes the first time, kept outside the tree.
emulator:
	$(Q)scripts/qemu-pmu --planted >/dev/null
