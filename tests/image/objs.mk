# tests/image/: programs that run in the image, grouped by what they prove; tests/image/README.md says what.
TESTS_process  := startup stdio files tmp links cwd proc_files vdso low mapped shared fork usage \
    capability group child_tid orphan pie pipe poll epoll timerfd memory contig heap clock random codegen fpstate unwind \
    solaris paths descriptors vfork advice atomic_ops
TESTS_sched    := thread futex mutex lock_shared synch_shared handover lowest sched sched_wake sched_place turns \
    liveness liveness_turns
TESTS_signal   := signal signalfd signal_mask signal_frame signal_fault signal_stack signal_lwp itimer \
    register_leak job
TESTS_libcpc   := cpc_open cpc_query cpc_set cpc_buf cpc_bind cpc_fit cpc_software cpc_model
TESTS_counting := cpc_exact cpc_direct cpc_window cpc_page cpc_walk cpc_wide cpc_perf cpc_events cpc_models \
    cpc_presets cpc_lookup cpc_extra_msr cpc_cycles cpc_vendor
TESTS_overflow := cpc_overflow cpc_position cpc_storm cpc_ucontext cpc_kernel cpc_late cpc_profile cpc_perf_signal
TESTS_inherit  := cpc_inherit cpc_fork
TESTS_cpus     := cpc_cpu cpc_core_type cpc_each_cpu cpc_interlock cpc_denied cpc_shared
TESTS_v1       := cpc_v1 cpc_v1_text cpc_v1_overflow cpc_v1_shared cpc_v1_pctx
TESTS_pctx     := pctx_run pctx_count pctx_rights pctx_target pctx_driver
TESTS_hostile  := hostile privilege unknown nomem cpc_hostile cpc_fuzz syscall_fuzz entries
TESTS_random_script := conserve conserve_cpu soak mix_exec

TEST_GROUPS := process sched signal libcpc counting overflow inherit cpus v1 pctx hostile random_script
TESTS := $(foreach g,$(TEST_GROUPS),$(TESTS_$(g))) chaos alloc_fail

# In libtest.a.  A test takes from it what it names.
TEST_OBJS := $(addprefix tests/lib/image/,test.o cpc_test.o v1_test.o crowd.o)
TEST_OBJS += $(addprefix tests/lib/image/$(ARCH)/,clone.o codegen.o fpstate.o pic_read.o position.o privilege.o \
    sigregs.o)
TEST_OBJS += $(addprefix tests/image/random_script/,$(ARCH)/script.o script_lwp.o mix.o state.o draw.o operation.o \
    cpu.o \
    machine.o run.o soak_process.o soak_count.o soak_overflow.o)
TEST_OBJS += $(addprefix tests/image/hostile/chaos/,process.o memory.o signal.o sync.o pipe.o child.o cpc.o raw.o \
    typed.o)
TEST_OBJS += $(addprefix tests/image/hostile/alloc_fail/,turns.o memory.o files.o machine.o signals.o processes.o \
    counters.o \
    $(ARCH)/old.o)
TEST_OBJS += payloads/common/$(ARCH)/spin.o

define test_group
$(TESTS_$(1):%=$(B)/tests/%): $(B)/tests/%: $(B)/tests/image/$(1)/%.o
endef
$(foreach g,$(TEST_GROUPS),$(eval $(call test_group,$(g))))
$(B)/tests/chaos: $(B)/tests/image/hostile/chaos/chaos.o
$(B)/tests/alloc_fail: $(B)/tests/image/hostile/alloc_fail/alloc_fail.o
$(addprefix $(B)/tests/,cpc_lookup cpc_models cpc_presets): $(B)/libprograms.a
$(B)/tests/image/process/unwind.o: UCFLAGS += -fexceptions
$(B)/tests/pie: private LINK := -static-pie
$(B)/tests/low: private LINK := -Wl,-Ttext-segment=0x10000

# Tests of the contract that do not depend on which events the PMU has.
CONTRACT := cpc_open cpc_query cpc_set cpc_buf cpc_bind cpc_exact cpc_software cpc_late cpc_shared cpc_model \
    thread fork sched cpc_inherit cpc_cpu cpc_interlock cpc_v1 cpc_v1_text cpc_v1_overflow cpc_v1_shared \
    pctx_run pctx_count pctx_rights

# Tests of exact counts, for a KVM in emulation, where each takes seconds.
COUNTING := cpc_exact cpc_direct cpc_window cpc_page cpc_wide cpc_position cpc_kernel cpc_inherit cpc_cpu

# The archives of tests: all; without those that need a PMU; only those; those for the software PMU; those that count.
$(B)/tests.cpio: tests/image/suite $(TESTS:%=$(B)/tests/%)
$(B)/basic.cpio: $(B)/basic/suite $(patsubst %,$(B)/tests/%,$(filter-out cpc_%,$(TESTS)))
$(B)/pmu.cpio: $(B)/pmu/suite $(patsubst %,$(B)/tests/%,$(filter cpc_% pctx_% privilege,$(TESTS)))
$(B)/contract.cpio: $(B)/contract/suite $(patsubst %,$(B)/tests/%,$(CONTRACT) pctx_target)
$(B)/counting.cpio: $(B)/counting/suite $(patsubst %,$(B)/tests/%,$(COUNTING))
$(B)/basic/suite: tests/image/suite
	@mkdir -p $(@D)
	$(Q)grep -v '^cpc_' $< >$@
$(B)/pmu/suite: tests/image/suite $(MK)
	@mkdir -p $(@D)
	$(Q)grep -E '^(cpc|pctx)_|^privilege$$' $< >$@
$(B)/contract/suite: $(MK)
	@mkdir -p $(@D)
	$(Q)printf '%s\n' $(CONTRACT) >$@
$(B)/counting/suite: $(MK)
	@mkdir -p $(@D)
	$(Q)printf '%s\n' $(COUNTING) >$@
