# tests/host/: tests that run on the build machine, with sanitizers.  The folders mirror the source tree.
HOST_CC     := $(HOST_TRIPLE)gcc
HOST_CFLAGS := -O1 -g -std=gnu11 -Wall -Wextra -Wshadow -Werror -MMD -MP -fno-strict-aliasing
# The shadow folder has headers that replace those of a machine's registers and inlines.
HOST_CFLAGS += -Itests/lib/host/shadow -I. -Iinclude $(PREFIX_MAP)
# A package has the tools alone, which its users need without the sanitizers' libraries.
HOST_SAN    := $(if $(SOURCE_DATE_EPOCH),,-fsanitize=address,undefined -fno-sanitize-recover=all)
HB := build/host
T  := $(HB)/tests/
host = $(addprefix $(HB)/,$(1))
fake = $(addprefix tests/lib/host/,$(1))

# Parts of the product that several tests need, and the fakes that these parts call.
HOST_LIB    := $(call fake,support.o) $(addprefix lib/,string.o text.o printf.o)
HOST_EVENTS := $(EVENT_LIB) events/vendors.o $(EVENT_TABLES)
HOST_X86 := $(call fake,named.o x86/fake_msr.o x86/x86_set.o) arch/x86/topology.o \
    $(addprefix kern/cpc/,refuse.o init/proof.o) $(HOST_EVENTS) $(HOST_LIB) \
    $(addprefix arch/x86/pmu/,pic.o config.o nmi.o models.o evtsel.o)
HOST_INTEL  := $(call fake,x86/intel_shapes.o) $(HOST_X86) \
    $(addprefix arch/x86/pmu/intel/,intel_shape.o core_type.o intel_pcbe.o intel_configure.o)
HOST_AMD    := arch/x86/pmu/amd/amd_pcbe.o $(HOST_X86)
HOST_PMUV3  := $(call fake,arm64/fake_pmu.o arm64/fake_pmu_regs.o arm64/pmuv3_pics.o arm64/pmuv3_set.o named.o) \
    kern/cpc/refuse.o kern/cpc/init/proof.o arch/arm64/cpu_name.o \
    $(HOST_EVENTS) $(HOST_LIB) $(addprefix arch/arm64/pmu/,pmuv3_pcbe.o core_type.o proof.o)
HOST_CPC    := $(call fake,read_stub.o) $(CPC_OBJS) cpc/solaris/illumos.o cpc/solaris/processor.o
HOST_PAGES := $(call fake,kcpc/fake_kernel.o kcpc/fake_pcbe.o kcpc/fake_mmu.o) $(SOFT_PMU_OBJS) $(HOST_CPC) \
    $(KCPC_OBJS) $(KCPC_PAGE_OBJS) $(EVENT_LIB) $(HOST_LIB)
HOST_KCPC := $(call fake,kcpc/host.o kcpc/no_pages.o kcpc/fake_kernel.o kcpc/fake_pcbe.o) $(SOFT_PMU_OBJS) \
    $(HOST_CPC) $(KCPC_OBJS) $(EVENT_LIB) $(HOST_LIB)

$(T)lib/lib: $(call host,$(HOST_LIB))
$(T)kern/platform/bootinfo: $(call host,kern/platform/bootinfo.o $(HOST_LIB))
HOST_WORDS := kern/platform/command/words.o events/nearer.o
HOST_UART := $(call fake,no_uart.o) $(UART_OBJS)
$(T)dev/uart/uart: $(call host,$(UART_OBJS) $(HOST_LIB))
$(T)kern/platform/command/cmdline: $(call host,kern/platform/command/cmdline.o $(HOST_UART) $(HOST_WORDS) \
    $(addprefix kern/cpc/soft/soft_,shape.o model.o) $(call fake,heap.o) $(HOST_LIB))
$(T)kern/platform/firmware/smbios: $(call host,$(addprefix kern/platform/,firmware/smbios.o \
    firmware/acpi.o) $(HOST_LIB))
$(T)kern/platform/firmware/acpi_watchdog: $(call host,kern/platform/firmware/acpi_watchdog.o \
    kern/platform/firmware/acpi.o $(HOST_LIB))
$(T)kern/platform/firmware/watchdog: $(call host,kern/platform/firmware/watchdog.o $(HOST_LIB))
$(T)kern/platform/results/fb_console: $(call host,kern/platform/results/fb_console.o lib/font.o $(HOST_LIB))
$(T)kern/platform/results/kept: $(call host,$(addprefix kern/platform/,results/kept.o results/keep.o console.o) \
    $(addprefix lib/,string.o text.o printf.o))
$(T)kern/platform/run_end: $(call host,kern/platform/run_end.o $(HOST_LIB))
$(T)kern/mm/page: $(call host,kern/mm/page.o kern/mm/kmalloc.o kern/platform/bootinfo.o $(HOST_LIB))
$(T)kern/mm/region: $(call host,kern/mm/region.o $(HOST_LIB))
$(T)kern/mm/populate: $(call host,kern/mm/populate.o $(HOST_LIB))
$(T)kern/sched/timer: $(call host,kern/sched/timer.o $(HOST_LIB))
$(T)kern/sched/slice: $(call host,$(addprefix kern/sched/,sched.o turn.o lowest.o timer.o) $(HOST_LIB))
$(T)kern/file/cpio: $(call host,kern/file/cpio.o $(HOST_LIB))
$(T)kern/proc/elf: $(call host,kern/proc/elf.o $(HOST_LIB))
$(T)kern/proc/futex/futex_owner: $(call host,$(HOST_LIB))
$(T)kern/sys/p_online: $(call host,kern/sys/sched.o $(HOST_LIB))
$(T)boot/efi/efi_cmdline: $(call host,boot/efi/efi_cmdline.o $(HOST_WORDS) $(HOST_LIB))
$(T)boot/efi/efi_kept: $(call host,boot/efi/efi_kept.o kern/platform/results/kept.o $(call fake,fake_efi.o) $(HOST_LIB))
$(T)boot/efi/efi_net: $(call host,boot/efi/efi_net.o $(call fake,fake_pxe.o) $(HOST_LIB))
$(T)boot/image_uefi: $(call host,$(addprefix boot/,image_uefi.o efi/efi_handed.o efi/efi_memmap.o) arch/arm64/fdt/dt.o \
    kern/platform/bootinfo.o $(HOST_LIB))
$(T)boot/image_uefi: HOST_LIBS := -lfdt
$(T)boot/linux_params: $(call host,$(addprefix boot/,linux_params.o efi/efi_handed.o pvh_info.o) \
    kern/platform/bootinfo.o $(HOST_LIB))
$(T)boot/efi/efi_tables: $(call host,boot/efi/efi_tables.o boot/efi/efi_memmap.o kern/platform/bootinfo.o \
    $(call fake,fake_efi.o) $(HOST_LIB))
HOST_TESTS := lib/lib dev/uart/uart $(addprefix kern/,platform/bootinfo platform/command/cmdline \
    platform/firmware/smbios platform/firmware/watchdog platform/firmware/acpi_watchdog platform/results/fb_console \
    platform/results/kept platform/run_end mm/page mm/populate mm/region sched/timer sched/slice file/cpio proc/elf \
    proc/futex/futex_owner sys/p_online) $(addprefix boot/,$(addprefix efi/efi_,cmdline kept net tables) linux_params) boot/image_uefi

# Names of events of every CPU that has a table.
EVENT_TESTS := $(addprefix events/,tables presets names/perf machine nearer)
$(T)events/machine: | $(EVENT_FILES)
$(EVENT_TESTS:%=$(T)%): $(call host,$(HOST_EVENTS))
$(T)events/names/linux_event: $(call host,events/names/linux_event.o events/amd_pics.o)
$(T)events/perf_names: $(call host,$(HOST_EVENTS) $(addprefix payloads/common/,usage.o events/event_lookup.o \
    events/perf_names.o events/event_table.o target_host.o))
VENDOR_PARTS := $(addprefix payloads/common/,usage.o options_next.o events/event_lookup.o events/perf_names.o \
    events/event_table.o events/errata.o target_host.o) kern/cpc/assign.o
$(T)events/vendor_answers: $(call host,$(HOST_EVENTS) $(VENDOR_PARTS))
# The arithmetic of benchmarks.
$(T)payloads/report: $(call host,$(call fake,support.o) $(addprefix payloads/common/,report.o report_json.o \
    events/errata.o events/errata_here.o results/runs.o results/runs_text.o results/series.o usage.o))
PAYLOAD_TESTS := $(addprefix payloads/,report aggregates runs)
# The lines that tests/cli/results/packed.py gives it, as the program pack packs them.
$(T)payloads/pack_lines: $(call host,$(call fake,support.o) payloads/pack/blocks.o payloads/pack/fold.o \
    $(addprefix payloads/common/,results/json.o results/series.o arm64/enlightenments.o usage.o))
$(T)payloads/pack_lines: HOST_LIBS := -lm -lz
$(T)payloads/pack_dies: $(call host,$(call fake,support.o) payloads/pack/blocks.o payloads/pack/fold.o \
    $(addprefix payloads/common/,results/json.o results/series.o arm64/enlightenments.o usage.o))
$(T)payloads/pack_dies: HOST_LIBS := -lm -lz
HOST_TESTS += payloads/pack_lines payloads/pack_dies
$(T)payloads/board_hide: $(call host,$(call fake,support.o) $(addprefix payloads/board/,board_hide.o arm64/board_fdt.o))
$(T)payloads/board_hide: HOST_LIBS := -lfdt
$(HB)/tests/host/payloads/board_hide.o: HOST_CFLAGS += -D_GNU_SOURCE
HOST_TESTS += payloads/board_hide
$(T)qemu/planted/core: $(call host,$(addprefix qemu/planted/,core.o cache.o))
HOST_TESTS += qemu/planted/core
$(T)payloads/rows: $(call host,$(call fake,support.o) payloads/stat/stat_rows.o payloads/common/usage.o)
$(T)payloads/child: $(call host,$(call fake,support.o) payloads/tools/child.o payloads/common/usage.o)
$(T)payloads/child: HOST_LDFLAGS := -Wl,--wrap=syscall,--wrap=kill
$(T)payloads/nb_arm64: $(call host,$(call fake,support.o) payloads/nb/arm64/emit.o payloads/common/usage.o)
$(T)payloads/kernel_sample: $(call host,$(call fake,support.o) payloads/common/usage.o \
    $(addprefix payloads/record/,sample_file.o histogram.o symbols.o x86_64/call.o))
HOST_TESTS += $(addprefix payloads/,rows child nb_arm64 kernel_sample)
$(T)payloads/aggregates: $(call host,$(call fake,support.o) $(addprefix payloads/common/,results/series.o usage.o))
$(T)payloads/runs: $(call host,$(call fake,support.o) $(addprefix payloads/common/,results/runs.o results/runs_text.o \
    results/series.o usage.o))
$(PAYLOAD_TESTS:%=$(T)%): HOST_LIBS := -lm
$(T)payloads/bench: $(call host,$(call fake,support.o) payloads/bench/kernel.o $(addprefix payloads/common/,options.o \
    options_next.o usage.o))
# The program vpmu on a PMU with a defect.
$(T)payloads/vpmu: $(call host,$(call fake,vpmu/model.o vpmu/libcpc.o support.o) \
    $(addprefix payloads/common/,usage.o read_cost.o) $(addprefix payloads/vpmu/x86_64/,arch.o fixed.o) \
    $(addprefix payloads/vpmu/,vpmu.o report.o measure.o count.o range.o overflow.o lwp.o event.o model.o believe.o steady.o))
$(T)payloads/vpmu: HOST_LDFLAGS := -Wl,--wrap=syscall,--wrap=nanosleep,--wrap=signal,--wrap=barecpc_sysconf
$(HB)/payloads/vpmu/vpmu.o: HOST_CFLAGS += -Dmain=vpmu_main
$(T)payloads/vpmu_x86: $(call host,$(call fake,support.o) payloads/vpmu/x86_64/registers.o)
$(T)payloads/vpmu_x86: HOST_LDFLAGS := -Wl,--wrap=syscall
$(T)payloads/vpmu_arm64: $(call host,$(call fake,support.o) payloads/vpmu/arm64/registers.o)
HOST_TESTS += $(EVENT_TESTS) events/names/linux_event events/perf_names events/vendor_answers \
    $(PAYLOAD_TESTS) $(addprefix payloads/,bench vpmu vpmu_x86 vpmu_arm64)

# The machine from arm64's tables.  Physical memory is the host's memory.
HOST_MACHINE := $(call fake,machine.o) arch/arm64/machine.o kern/platform/bootinfo.o $(HOST_UART) $(HOST_LIB)
HOST_FDT := $(addprefix arch/arm64/,fdt/dt.o fdt/machine_fdt.o fdt/uart_fdt.o fdt/pci_fdt.o) $(HOST_MACHINE)
FDT_TESTS := $(addprefix $(T)arch/arm64/,fdt/machine_fdt fdt/cpus_fdt boards)
$(FDT_TESTS): $(call host,$(HOST_FDT))
$(filter $(T)arch/arm64/fdt/%,$(FDT_TESTS)): $(call host,$(call fake,arm64/device_tree.o))
$(FDT_TESTS): HOST_LIBS := -lfdt
$(T)arch/arm64/machine_acpi: $(call host,arch/arm64/machine_acpi.o $(addprefix kern/platform/,firmware/acpi.o \
    firmware/acpi_uart.o) $(HOST_MACHINE))
$(T)kern/firmware: $(call host,$(call fake,physical.o) $(addprefix arch/arm64/,machine.o machine_acpi.o fdt/dt.o \
    fdt/machine_fdt.o fdt/uart_fdt.o fdt/pci_fdt.o) $(addprefix kern/platform/,firmware/acpi.o firmware/acpi_uart.o \
    firmware/acpi_watchdog.o firmware/smbios.o bootinfo.o) $(HOST_UART) $(HOST_LIB))
$(T)kern/firmware: HOST_LIBS := -lfdt
$(T)arch/arm64/vmm: $(call host,arch/arm64/vmm.o $(HOST_LIB))
$(T)arch/arm64/dev/console: $(call host,arch/arm64/dev/console.o $(UART_OBJS) $(HOST_LIB))
$(T)arch/arm64/dev/watchdog: $(call host,arch/arm64/dev/watchdog.o $(HOST_LIB))
$(T)arch/arm64/ras: $(call host,arch/arm64/ras.o $(HOST_LIB))
$(T)arch/arm64/mm/early: $(call host,$(addprefix arch/arm64/mm/,early.o pt.o) $(HOST_LIB))
$(T)arch/arm64/mm/early: HOST_LDFLAGS := -no-pie # so that the image is at a multiple of 2 MiB
$(addprefix $(HB)/arch/arm64/mm/,early.o pt.o): RENAME_PRINTF := \
    --redefine-sym _start=image_start --redefine-sym __data_start=image_data
HOST_TESTS += $(addprefix arch/arm64/,fdt/machine_fdt fdt/cpus_fdt machine_acpi vmm boards dev/console dev/watchdog \
    ras mm/early) kern/firmware

# The backends on fake registers.
X86_TESTS   := $(addprefix arch/x86/pmu/,intel_pcbe intel_count intel_table nmi)
PMUV3_TESTS := $(addprefix arch/arm64/pmu/,pmuv3 pmuv3_select pmuv3_count pmuv3_overflow pmuv3_rules)
$(T)arch/x86/topology: $(call host,arch/x86/topology.o $(HOST_LIB))
X86_DEV_TESTS := $(addprefix arch/x86/dev/,console tco tsc tsc_sync)
$(X86_DEV_TESTS:%=$(T)%): $(T)%: $(HB)/%.o $(call host,$(HOST_LIB))
$(foreach t,$(X86_DEV_TESTS),$(HB)/$(t).o $(HB)/tests/host/$(t).o): \
    HOST_CFLAGS := -Itests/lib/host/shadow_ports $(HOST_CFLAGS)
$(T)arch/x86/dev/console: $(call host,$(UART_OBJS))
# Without the functions that these do not call.
$(addprefix $(T),kern/mm/populate kern/sched/slice arch/x86/dev/console arch/x86/dev/tsc arch/arm64/dev/console): \
    HOST_LDFLAGS := -no-pie -Wl,--unresolved-symbols=ignore-all
$(T)arch/x86/mm/early: $(call host,arch/x86/mm/early.o $(HOST_LIB))
HOST_TESTS += $(X86_DEV_TESTS) arch/x86/mm/early
POWER_TESTS := $(addprefix arch/x86/power/,quiet strain)
$(POWER_TESTS:%=$(T)%): $(call host,$(addprefix arch/x86/power/,state.o strain.o quiet.o) $(call fake,x86/fake_regs.o) \
    $(HOST_LIB))
HOST_TESTS += $(POWER_TESTS)
$(T)arch/x86/trap/xcr0: $(call host,arch/x86/trap/xcr0.o $(HOST_LIB))
$(X86_TESTS:%=$(T)%): $(call host,$(HOST_INTEL))
$(T)kern/cpc/fit: $(call host,kern/cpc/context.o kern/cpc/assign.o $(HOST_INTEL))
$(T)arch/x86/pmu/amd_pcbe: $(call host,$(HOST_AMD))
$(T)arch/x86/pmu/presets: $(call host,$(HOST_EVENTS))
$(PMUV3_TESTS:%=$(T)%): $(call host,$(HOST_PMUV3))
$(T)arch/arm64/pmu/presets: $(call host,$(HOST_EVENTS))
HOST_TESTS += $(X86_TESTS) $(PMUV3_TESTS) $(addprefix arch/x86/,topology trap/xcr0 pmu/amd_pcbe pmu/presets) \
    arch/arm64/pmu/presets \
    kern/cpc/fit

# libcpc and kcpc on a fake kernel and a PMU of any shape.
KCPC_TESTS := $(addprefix cpc/,open error query set request buf sample bind bind_refused race preset signal no_memory)
KCPC_TESTS += $(addprefix kern/cpc/,assign hostile overflow init/init inherit test/witness cpu_set cpu_set_order \
    core_type core_type_order \
    profile/profile profile/samples profile/rows) kern/debug/test_hooks
$(KCPC_TESTS:%=$(T)%): $(call host,$(HOST_KCPC))
# libcpc's headers and library in a C++ program.
$(T)cpc/cxx $(T)cpc/v1/v1_spec: $(call host,$(HOST_CPC) $(EVENT_LIB))
$(addprefix $(T)kern/cpc/profile/,profile samples rows): $(call host,$(call fake,kcpc/profile.o))
$(T)kern/debug/test_hooks: $(call host,kern/debug/test_hooks.o $(call fake,kcpc/fake_state.o))
$(T)cpc/no_memory: HOST_LDFLAGS := -Wl,--wrap=calloc,--wrap=realloc,--wrap=mmap # the test decides when memory is out
$(T)kern/cpc/counter_page: $(call host,$(HOST_PAGES))
# Every interleaving of kcpc's operations on the software PMU.
$(T)kern/cpc/explore/explore: $(call host,$(addprefix tests/host/kern/cpc/explore/,state.o model.o world.o page.o \
    search.o) \
    $(call fake,named.o) events/vendors.o $(EVENT_TABLES) $(HOST_PAGES))
HOST_TESTS += $(KCPC_TESTS) cpc/cxx cpc/v1/v1_spec kern/cpc/counter_page kern/cpc/explore/explore
# The registers of each PMU below kcpc.  Their fakes have names that the fake kernel has, too.
REGS := tests/host/kern/cpc/registers
REGS_X86   := $(REGS)/x86.o $(call fake,x86/fake_msr.o x86/x86_set.o x86/intel_shapes.o)
REGS_ARM64 := $(REGS)/arm64.o $(call fake,arm64/fake_pmu.o arm64/fake_pmu_regs.o arm64/pmuv3_pics.o)
REGS_KCPC  := $(filter-out %/host.o,$(HOST_KCPC)) $(REGS)/registers.o
REGS_NAMES := cpus ncpu arch_curcpu arch_tick arch_tick_hz fake_cpu fake_shape kcpc_pmi_late pcbe_models \
    pcbe_nmodels fake_bound
$(patsubst %,$(HB)/regs/%,$(REGS_X86) $(REGS_ARM64)): $(HB)/regs/%: $(HB)/%
	@mkdir -p $(@D)
	$(Q)objcopy $(foreach n,$(REGS_NAMES),--redefine-sym $(n)=regs_$(n) \
	    --redefine-sym __odr_asan.$(n)=__odr_asan.regs_$(n)) $< $@
$(T)kern/cpc/registers/x86: $(REGS_X86:%=$(HB)/regs/%) \
    $(call host,$(filter-out $(REGS_X86),$(sort $(HOST_INTEL) $(HOST_AMD) $(REGS_KCPC))))
$(T)kern/cpc/registers/arm64: $(REGS_ARM64:%=$(HB)/regs/%) \
    $(call host,$(filter-out $(REGS_ARM64) %/pmuv3_set.o,$(sort $(HOST_PMUV3) $(REGS_KCPC))))
REGS_TESTS := $(addprefix kern/cpc/registers/,x86 arm64)

$(HOST_TESTS:%=$(T)%): $(T)%: $(HB)/tests/host/%.o
$(HOST_TESTS:%=$(T)%) $(REGS_TESTS:%=$(T)%): $(HB)/tests/lib/host/test.o
$(HOST_TESTS:%=$(T)%) $(REGS_TESTS:%=$(T)%):
	$(call say,CCLD,$@)
	@[ -d $(@D) ] || rm -f $(@D) # a test of an older commit may have the folder's name
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -fsanitize=address,undefined $(HOST_LDFLAGS) -o $@ $^ -lcmocka $(HOST_LIBS)

# Threads, in separate objects: the thread sanitizer excludes the address sanitizer.
$(T)cpc/threads: $(addprefix build/tsan/,tests/host/cpc/threads.o tests/lib/host/test.o $(HOST_KCPC))
	$(call say,CCLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -fsanitize=thread -o $@ $^ -lcmocka

# On the host the kernel's string functions have other names (tests/lib/host/kernel_names.h).  printf() has another name
# in the files whose output tests read.
RENAMES := $(HB)/kernel_names
$(RENAMES): tests/lib/host/kernel_names.h
	@mkdir -p $(@D)
	$(Q)awk '/^#define [a-z].* / { print $$2, $$3 }' $< >$@
OURS := $(foreach d,lib dev kern arch boot,$(HB)/$(d)/%.o build/tsan/$(d)/%.o)
$(OURS): AFTER = $(HOST_TRIPLE)objcopy --redefine-syms=$(RENAMES) $(RENAME_PRINTF)
$(OURS): HOST_CFLAGS += -fno-builtin
$(foreach b,host tsan,build/$(b)/kern/cpc/init/init.o build/$(b)/kern/cpc/init/crosstalk.o \
    build/$(b)/kern/cpc/test/witness.o \
    build/$(b)/arch/arm64/machine.o build/$(b)/arch/arm64/fdt/machine_fdt.o \
    build/$(b)/arch/x86/trap/xcr0.o): \
    RENAME_PRINTF := \
    --redefine-sym printf=fake_printf

$(HB)/boot/%.o $(HB)/tests/host/boot/%.o $(addprefix $(HB)/tests/lib/host/,fake_efi.o fake_pxe.o): \
    HOST_CFLAGS += -DGNU_EFI_USE_MS_ABI \
    -isystem /usr/include/efi -isystem /usr/include/efi/$(shell uname -m)

# The tools that scripts/barecpc runs on the build machine.
HOST_TOOLS := $(addprefix $(HB)/,encode list fits)
$(HOST_TOOLS): | $(EVENT_FILES)
$(HB)/fits: $(call host,payloads/common/options_next.o payloads/common/events/errata.o kern/cpc/assign.o)
$(HOST_TOOLS): $(HB)/%: $(HB)/payloads/tools/%.o $(call host,$(EVENT_LIB) $(addprefix payloads/common/,usage.o \
    events/event_table.o target_host.o events/event_lookup.o events/perf_names.o))
	$(call say,CCLD,$@)
	$(Q)$(HOST_CC) $(or $(HOST_SAN),-static) -o $@ $^

$(HB)/%.o: COMPILE = $(HOST_CC) $(HOST_CFLAGS) $(HOST_SAN)
build/tsan/%.o: COMPILE = $(HOST_CC) $(HOST_CFLAGS) -fsanitize=thread
$(HB)/tests/host/cpc/cxx.o: COMPILE = g++ $(filter-out -std=gnu11,$(HOST_CFLAGS)) $(HOST_SAN)
$(HB)/%.o: %.c $(MK) $(RENAMES)
	$(compile)
build/tsan/%.o: %.c $(MK) $(RENAMES)
	$(compile)
$(HB)/%.o: %.cc $(MK)
	$(compile)
-include $(shell find build/host build/tsan -name '*.d' 2>/dev/null)
