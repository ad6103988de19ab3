# barecpc: the whole build.  Objects land in build/$(ARCH)/, listed in reading order.
#   make                build the image of both architectures (ARCH=arm64 or x86_64: of one)
#   make run            install what is missing, build, boot the default suite in QEMU, print its table
#   make check          every test; check-host, check-image: a part of them
#   make check-all      the same, and the campaigns, which take long
#   make lint format    layers, formatting, shell; rewrite the formatting
#   make fuzz RUNS=n    the parsers of foreign bytes by libFuzzer, n runs each
#   make bench          what operations cost, in instructions
#   make disk           build/barecpc.img, which boots by UEFI on both
#   make gdb            boot and wait for a debugger
#   SAN=ubsan           the kernel alone, into build/ARCH-ubsan: undefined behaviour traps
#   EVENTS=amd          event names of these vendors only, of intel, amd, arm
#   V=1 shows the commands.

ARCHS   := arm64 x86_64
V       ?=
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$(2)')
# Every object is compiled by this recipe; COMPILE says by what command, for each folder of build/.
define compile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<
endef

# What is missing is installed before anything below asks for a compiler; 20 ms when nothing is.
ifeq ($(MAKELEVEL)$(filter clean,$(MAKECMDGOALS)),0)
ifneq ($(shell scripts/setup >&2 && echo ready),ready)
$(error scripts/setup could not install what is missing)
endif
endif

# cpc/: libcpc; what stands on the door.
CPC_OBJS := cpc/error.o cpc/object.o cpc/handle.o cpc/event.o cpc/request.o cpc/set.o cpc/buf.o cpc/bind.o cpc/sample.o cpc/illumos.o cpc/thread.o cpc/machine.o

# events/: names of events; tables apart.
EVENT_LIB := $(addprefix events/,key.o find.o mod.o parse.o masks.o encode.o encode_netburst.o perf.o name.o preset.o suggest.o nearer.o amd_pics.o cpu.o file.o machine.o \
    own_intel.o own_amd.o own_arm.o own_soft.o)
# Tables as files, which programs map: of the image, and of the build machine's tools.
EVENT_FILES := $(addprefix build/events/,intel amd arm)

ifeq ($(ARCH),)
# Without ARCH: once for each architecture.
all tests:
	$(Q)for a in $(ARCHS); do $(MAKE) --no-print-directory ARCH=$$a $@ || exit; done
# One after the other also with -j: they build in the same folders.
tests: all
else ifeq ($(filter $(ARCH),$(ARCHS)),)
$(error ARCH=$(ARCH): known are $(ARCHS))
else

# A machine's own: the door, and how its PICs are read without a trap; cpc/noread.o, of the host's tests,
# asks the kernel always.
CPC_OBJS += $(addprefix cpc/$(if $(filter arm64,$(ARCH)),arm64,x86)/,door.o read.o)

ifneq ($(filter-out ubsan,$(SAN)),)
$(error SAN=$(SAN): known is ubsan)
endif
B       := build/$(ARCH)$(SAN:%=-%)
DIR     := $(if $(filter x86_64,$(ARCH)),arch/x86,arch/arm64)
CROSS   := $(if $(filter x86_64,$(ARCH)),x86_64-linux-gnu-,aarch64-linux-gnu-)
CC      := $(CROSS)gcc
LD      := $(CROSS)ld
OBJCOPY := $(CROSS)objcopy
NM      := $(CROSS)nm
AR      := $(CROSS)ar

WARN    := -Wall -Wextra -Wshadow -Wmissing-prototypes -Werror
KCFLAGS := -O2 -g -std=gnu11 $(WARN) -I. -Iinclude/kernel -MMD -MP -ffreestanding -nostdinc -isystem $(shell $(CC) -print-file-name=include)
KCFLAGS += -fno-pic -fstack-protector-strong -fno-common -fno-strict-aliasing
KCFLAGS += -fno-omit-frame-pointer        # backtraces walk frame pointers
KCFLAGS += -mgeneral-regs-only            # LWPs' SIMD state is left alone
KCFLAGS += -fno-asynchronous-unwind-tables
# Undefined behaviour is a trap instruction, and ends in a panic (kern/fault.c).  gcc(1), "-fsanitize-undefined-trap-on-error".
KCFLAGS += $(SAN:ubsan=-fsanitize=undefined -fsanitize-undefined-trap-on-error)
# Who runs is an instruction or two, not a call: of what is C in kern/ and arch/.
KINLINE = $(if $(filter %.c,$<),-include $(DIR)/inline.h)
ifeq ($(ARCH),x86_64)
KCFLAGS += -mstack-protector-guard=global # gs is not always the kernel's
KCFLAGS += -mcmodel=kernel                # linked in the top 2 GiB
KCFLAGS += -mno-red-zone                  # an interrupt uses the stack it finds
KCFLAGS += -fcf-protection=none
KCFLAGS += -mpreferred-stack-boundary=3   # nothing it keeps there wants 16 bytes
KCFLAGS += -fno-align-loops -fno-align-jumps # padding before a loop is executed, and counted
else
KCFLAGS += -mno-outline-atomics           # their helpers are in libgcc
endif

# lib/: knows no machine.
LIB_OBJS := lib/string.o lib/printf.o lib/font.o lib/popcount.o
# kern/: processes, LWPs, system calls; names no register.
KERN_OBJS := kern/main.o kern/stack_guard.o kern/test_crash.o kern/cmdline.o kern/words.o kern/bootinfo.o kern/page.o kern/kmalloc.o kern/cons.o kern/fbcons.o kern/ksym.o \
             kern/cpu.o kern/timer.o kern/xcall.o kern/sched.o kern/sched_cpu.o kern/waitq.o kern/lwp.o kern/launch.o kern/boottime.o \
             kern/archive.o kern/cpio.o kern/archive_data.o kern/elf.o kern/as.o kern/region.o kern/slots.o kern/as_pages.o kern/as_copy.o kern/exec.o \
             kern/proc.o kern/proc_tree.o kern/find.o kern/fork.o kern/stop.o kern/futex.o kern/file.o kern/pipe.o \
             kern/fault.o kern/signal.o kern/sigdeliver.o kern/syscall.o kern/usercopy.o kern/sys_file.o kern/sys_fd.o \
             kern/sys_stat.o kern/sys_mem.o kern/sys_proc.o kern/sys_exec.o kern/sys_wait.o kern/sys_sched.o kern/sys_info.o \
             kern/sys_time.o kern/sys_itimer.o kern/sys_poll.o kern/sys_sig.o kern/machine.o \
             kern/test_hooks.o \
             kern/kcpc.o kern/kcpc_assign.o kern/kcpc_bind.o kern/kcpc_cpu.o kern/kcpc_image.o kern/kcpc_inherit.o kern/kcpc_init.o kern/kcpc_live.o kern/kcpc_page.o kern/kcpc_profile.o kern/kcpc_run.o kern/kcpc_sys.o kern/kcpc_why.o kern/witness.o kern/acpi.o kern/efirt.o \
             kern/null_shape.o kern/null_pcbe.o

# The tables of the vendors in EVENTS: make EVENTS=amd leaves Intel's out, EVENTS= all.  What the last build had
# is kept in a file, so that another choice links anew.
EVENTS ?= $(if $(filter x86_64,$(ARCH)),intel amd,arm)
ifneq ($(filter-out intel amd arm,$(EVENTS)),)
$(error EVENTS=$(EVENTS): known are intel amd arm)
endif
ifeq ($(filter clean,$(MAKECMDGOALS)),)
$(shell mkdir -p $(B); echo '$(EVENTS)' | cmp -s - $(B)/vendors || echo '$(EVENTS)' >$(B)/vendors)
endif
KERN_OBJS += kern/kcpc_names.o
# Of events/ the kernel has what knows no name of an event.
EVENT_OBJS := events/amd_pics.o events/nearer.o

ifeq ($(ARCH),arm64)
# boot/: the way in; arch/arm64/: traps, memory, LWPs, the machine's tables and devices, the PMU.
BOOT_OBJS := boot/linux_image.o boot/image.o
ARCH_OBJS := $(addprefix arch/arm64/,early.o pt.o vectors.o trap.o mmu.o kstack.o switch.o lwp.o fp.o fp_regs.o sigframe.o sigcopy.o \
    uaccess.o uaccess_loops.o sysmap.o linux_stat.o init.o cpu.o halt.o describe.o dt.o machine.o machine_fdt.o machine_acpi.o \
    psci.o console.o gic.o gicv2.o gicv3.o timer.o pmuv3.o pmuv3_pcbe.o pmuv3_prove.o pmuv3_pics.o pmuv3_spin.o)
# Unaligned accesses fault while the MMU is off, and kern/stack_guard.c's word is not where it will be.
$(B)/arch/arm64/early.o $(B)/arch/arm64/pt.o: KCFLAGS += -mstrict-align -fno-stack-protector
# libfdt as the distribution has it: runs at boot alone, before there is SIMD state to keep.
LIBFDT := $(shell scripts/setup --cache)/libfdt-dev-arm64/usr
LDERRATA := --fix-cortex-a53-843419      # adrp near the end of a page; costs nothing elsewhere
LIBS   := $(LIBFDT)/lib/aarch64-linux-gnu/libfdt.a
$(addprefix $(B)/,boot/image.o arch/arm64/dt.o arch/arm64/machine_fdt.o): KCFLAGS += -isystem $(LIBFDT)/include
else
# boot/: the way in; arch/x86/: traps, memory, LWPs, the machine's tables and devices.
BOOT_OBJS := boot/pvh.o boot/pvh_info.o
ARCH_OBJS := $(addprefix arch/x86/,start.o boot.o init.o cpuid.o cpu.o entry.o trap.o safe.o copy.o pt.o mmu.o \
    kstack.o lwp.o switch.o fpu.o sigframe.o sigcopy.o sysmap.o linux_stat.o describe.o uart.o apic.o nmi.o mcheck.o refclock.o tsc.o timer.o \
    trampoline.o smp.o topology.o halt.o efi_call.o pmu.o pmu_prove.o intel_shape.o intel_pcbe.o intel_cfg.o amd_pcbe.o models.o evtsel.o extra.o pic.o pic_together.o pic_nmi.o)
# Firmware may want 16.
$(B)/arch/x86/efi_call.o: KCFLAGS += -mpreferred-stack-boundary=4 -mincoming-stack-boundary=3
endif

OBJS := $(addprefix $(B)/,$(BOOT_OBJS) $(ARCH_OBJS) $(KERN_OBJS) $(EVENT_OBJS) $(LIB_OBJS))

# What runs in the image is compiled as any payload is, by scripts/barecpc-cc: libcpc, payloads, tests.
UCFLAGS  := -O2 -g -std=gnu11 $(WARN) -I. -MMD -MP
UCC      := scripts/barecpc-cc --arch $(ARCH)
# Benchmarks and tests: the programs, and what those of a kind share.
PAYLOADS := spin triad matmul chase example1 example2 record stat bench encode list fits
PAYLOAD_OBJS := payloads/options.o payloads/options_next.o payloads/symbolic.o payloads/symbolic_request.o payloads/lookup.o payloads/usage.o payloads/child.o payloads/detail.o payloads/meter.o payloads/measure.o payloads/report.o payloads/report_record.o payloads/json.o payloads/symbols.o payloads/sampled.o payloads/tally.o payloads/stat_print.o payloads/$(ARCH)/spin.o \
                payloads/bench_switch.o payloads/bench_signal.o payloads/bench_overflow.o payloads/bench_flat.o payloads/bench_assign.o payloads/$(ARCH)/bench_clock.o
# Names are looked up by what the kernel looks them up by.
NAMES_OBJS := payloads/usage.o payloads/names.o payloads/names_image.o
FITS_OBJS  := payloads/fits_here.o user/kern/kcpc_assign.o
LIST_OBJS  := payloads/own_here.o
TESTS    := startup stdio heap files mapped memory contig codegen clock random fpstate privilege unknown hostile nomem pie \
            signal signal_mask signal_frame signal_fault signal_stack signal_lwp \
            cpc_open cpc_query cpc_set cpc_buf cpc_bind cpc_exact cpc_direct cpc_window cpc_page cpc_fork cpc_overflow cpc_position cpc_kernel cpc_ucontext thread futex pipe poll itimer fork child_tid sched sched_wake sched_place orphan \
            cpc_inherit cpc_cpu cpc_interlock cpc_profile cpc_denied cpc_hostile
TESTS    += cpc_null cpc_shared cpc_each_cpu
TESTS    += conserve conserve_cpu soak mix_exec
TESTS    += chaos alloc_fail syscall_fuzz
TESTS    += cpc_events cpc_fit
TESTS    += cpc_lookup cpc_models cpc_presets
# What of the contract holds whatever it is that the PMU counts.
CONTRACT := cpc_open cpc_query cpc_set cpc_buf cpc_bind cpc_exact cpc_null cpc_shared thread fork sched \
            cpc_inherit cpc_cpu cpc_interlock
TESTS    += cpc_walk
TEST_OBJS := tests/image/test.o tests/image/$(ARCH)/codegen.o tests/image/$(ARCH)/fpstate.o tests/image/$(ARCH)/privilege.o \
             tests/image/$(ARCH)/sigregs.o tests/image/$(ARCH)/position.o tests/image/$(ARCH)/script.o tests/image/script_lwp.o tests/image/mix.o tests/image/mix_state.o tests/image/mix_draw.o tests/image/mix_op.o \
             tests/image/mix_cpu.o tests/image/mix_machine.o tests/image/mix_run.o tests/image/soak_proc.o tests/image/soak_count.o tests/image/soak_ovf.o \
             tests/image/chaos_proc.o tests/image/chaos_mem.o tests/image/chaos_sig.o tests/image/chaos_sync.o tests/image/chaos_pipe.o tests/image/chaos_child.o tests/image/chaos_cpc.o tests/image/chaos_raw.o tests/image/chaos_typed.o \
             $(addprefix tests/image/alloc_fail/,turns.o memory.o files.o machine.o signals.o processes.o counters.o) tests/image/$(ARCH)/alloc_fail_old.o \
             tests/image/cpc_test.o tests/image/crowd.o tests/image/$(ARCH)/pic_read.o payloads/$(ARCH)/spin.o
# Overflows as programs make them.
TESTS += cpc_storm cpc_wide cpc_fuzz

KIMAGE  := $(B)/$(if $(filter x86_64,$(ARCH)),kernel.bin,Image)
# With SAN the programs are those of the plain build.
ifeq ($(SAN),)
ARCHIVE := $(B)/archive.cpio
all: $(B)/kernel.elf $(B)/libcpc.a $(B)/probe
else
ARCHIVE := build/$(ARCH)/archive.cpio
all: $(KIMAGE)
$(ARCHIVE): FORCE
	$(Q)$(MAKE) --no-print-directory SAN= ARCH=$(ARCH) $@
FORCE:
endif

$(B)/%.o: COMPILE = $(CC) $(KCFLAGS)
$(B)/kern/%.o $(B)/arch/%.o: COMPILE = $(CC) $(KCFLAGS) $(KINLINE)
$(B)/%.o: %.c Makefile
	$(compile)
$(B)/%.o: %.S Makefile
	$(compile)

$(B)/kern/archive_data.o: KCFLAGS += -DARCHIVE='"$(ARCHIVE)"'
$(B)/kern/archive_data.o: $(ARCHIVE)

# gcc would turn the loops of memcpy and memset into calls of themselves.
$(B)/lib/string.o: KCFLAGS += -fno-tree-loop-distribute-patterns

# Two links: the first with an empty symbol table, the second with the table made from the first.  The
# table lies behind the text, whose addresses it therefore does not move.
LDFLAGS := -nostdlib -z noexecstack -z max-page-size=4096 --build-id=none -T $(DIR)/kernel.ld $(LDERRATA)

$(B)/ksyms0.o: scripts/mksyms
	@mkdir -p $(@D)
	$(Q)scripts/mksyms $(NM) >$(B)/ksyms0.S && $(CC) -c -o $@ $(B)/ksyms0.S

$(B)/kernel.elf: $(OBJS) $(B)/ksyms0.o $(DIR)/kernel.ld
	$(call say,LD,$@)
	$(Q)$(LD) $(LDFLAGS) -o $(B)/kernel0.elf $(OBJS) $(LIBS) $(B)/ksyms0.o
	$(Q)scripts/mksyms $(NM) $(B)/kernel0.elf >$(B)/ksyms.S
	$(Q)$(CC) -c -o $(B)/ksyms.o $(B)/ksyms.S
	$(Q)$(LD) $(LDFLAGS) -o $@ $(OBJS) $(LIBS) $(B)/ksyms.o

# The flat image: arm64's has the header Linux's loaders know, x86's one of our own.
$(B)/Image $(B)/kernel.bin: $(B)/kernel.elf
	$(call say,COPY,$@)
	$(Q)$(OBJCOPY) -O binary $< $@

# The UEFI application: the kernel's image in a PE file that gnu-efi makes.  The other architecture's
# gnu-efi is not installed but unpacked by scripts/setup, since one would evict the other.
EFI       := $(B)/$(if $(filter x86_64,$(ARCH)),BOOTX64,BOOTAA64).EFI
EFI_ARCH  := $(if $(filter x86_64,$(ARCH)),x86_64,aarch64)
GNUEFI    := $(if $(filter $(EFI_ARCH),$(shell uname -m)),,$(shell scripts/setup --cache)/gnu-efi-$(if $(filter x86_64,$(ARCH)),amd64,arm64))/usr
EFI_OBJS  := $(addprefix $(B)/efi/,boot/efi.o boot/efi_file.o boot/efi_cmdline.o boot/efi_archive.o boot/efi_tables.o \
    $(if $(filter x86_64,$(ARCH)),boot/efi_x86.o,boot/efi_arm64.o boot/efi_enter_arm64.o) kern/bootinfo.o kern/words.o events/nearer.o lib/string.o lib/printf.o)
EFICFLAGS := -O2 -g -std=gnu11 $(WARN) -I. -MMD -MP -ffreestanding -fno-stack-protector -fno-strict-aliasing -mgeneral-regs-only
EFICFLAGS += -nostdinc -isystem $(shell $(CC) -print-file-name=include) -isystem $(GNUEFI)/include/efi -isystem $(GNUEFI)/include/efi/$(EFI_ARCH)
EFICFLAGS += -fpic -fvisibility=hidden    # placed anywhere, by relocations of gnu-efi's start code
EFICFLAGS += -fshort-wchar                # CHAR16
EFICFLAGS += -fno-tree-loop-distribute-patterns
ifeq ($(ARCH),x86_64)
EFICFLAGS += -DGNU_EFI_USE_MS_ABI -maccumulate-outgoing-args # firmware is called by Microsoft's convention
EFICFLAGS += -mno-red-zone                # firmware's interrupts use our stack
EFICFLAGS += -fcf-protection=none
# --subsystem=10: an application.
EFI_COPY  := --target efi-app-x86_64 --subsystem=10
else
EFICFLAGS += -mno-outline-atomics -mstrict-align
# gnu-efi's start code for arm64 is a PE header by hand, which asks for the subsystem at link time.
EFI_LD    := --defsym=EFI_SUBSYSTEM=0xa
EFI_COPY  := -O binary
endif

all: $(if $(SAN),,$(EFI))

$(B)/efi/%.o: COMPILE = $(CC) $(EFICFLAGS)
$(B)/efi/%.o: %.c Makefile
	$(compile)
$(B)/efi/%.o: %.S Makefile
	$(compile)
$(B)/efi/image.o: EFICFLAGS += -DEFI_KERNEL='"$(KIMAGE)"'
$(B)/efi/image.o: boot/efi_image.S $(KIMAGE) Makefile
	$(compile)

$(EFI): $(EFI_OBJS) $(B)/efi/image.o
	$(call say,EFI,$@)
	$(Q)$(LD) -nostdlib -znocombreloc -shared -Bsymbolic $(EFI_LD) --build-id=none -z noexecstack --no-warn-rwx-segments \
	    -T $(GNUEFI)/lib/elf_$(EFI_ARCH)_efi.lds -o $(B)/efi/app.so \
	    $(GNUEFI)/lib/crt0-efi-$(EFI_ARCH).o $^ -L$(GNUEFI)/lib -lgnuefi
	$(Q)$(OBJCOPY) -j .text -j .sdata -j .data -j .rodata -j .dynamic -j .dynsym -j .rel -j .rela -j '.rel.*' -j '.rela.*' \
	    -j .reloc $(EFI_COPY) $(B)/efi/app.so $@

# -fPIE: what is in a library serves static-PIE programs, too.
$(B)/cpc/%.o $(B)/payloads/%.o $(B)/tests/image/%.o: COMPILE = $(UCC) $(UCFLAGS) -fPIE
$(addprefix $(B)/,$(CPC_OBJS) $(PAYLOAD_OBJS) $(TEST_OBJS) $(PAYLOADS:%=payloads/%.o) $(TESTS:%=tests/image/%.o)): scripts/barecpc-cc

# A program takes from these what it names: a test with a main() of its own is left alone.
$(B)/libcpc.a: $(addprefix $(B)/,$(CPC_OBJS) $(EVENT_LIB:%=user/%))
$(B)/libpayload.a: $(addprefix $(B)/,$(PAYLOAD_OBJS))
$(B)/libtest.a: $(addprefix $(B)/,$(TEST_OBJS))
$(B)/libcpc.a $(B)/libpayload.a $(B)/libtest.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

$(PAYLOADS:%=$(B)/payloads/%): $(B)/payloads/%: $(B)/payloads/%.o $(B)/libpayload.a $(B)/libcpc.a
	$(call say,CCLD,$@)
	$(Q)$(UCC) -o $@ $< $(PAYLOAD_MORE) $(B)/libpayload.a

# Every program has these: without what a debugger reads.
$(B)/user/%.o: COMPILE = $(UCC) $(filter-out -g,$(UCFLAGS)) -fPIE
$(B)/user/%.o: %.c Makefile scripts/barecpc-cc
	$(compile)
$(B)/payloads/names.o $(B)/payloads/names_image.o $(B)/payloads/own_here.o $(B)/payloads/fits_here.o: scripts/barecpc-cc
$(B)/payloads/encode $(B)/payloads/list $(B)/payloads/fits: $(addprefix $(B)/,$(NAMES_OBJS))
$(B)/payloads/encode: private PAYLOAD_MORE = $(addprefix $(B)/,$(NAMES_OBJS))
$(B)/payloads/list: $(addprefix $(B)/,$(LIST_OBJS))
$(B)/payloads/list: private PAYLOAD_MORE = $(addprefix $(B)/,$(LIST_OBJS) $(NAMES_OBJS))
$(B)/payloads/fits: $(addprefix $(B)/,$(FITS_OBJS))
$(B)/payloads/fits: private PAYLOAD_MORE = $(addprefix $(B)/,$(FITS_OBJS) $(NAMES_OBJS))

$(TESTS:%=$(B)/tests/%): $(B)/tests/%: $(B)/tests/image/%.o $(B)/libtest.a $(B)/libcpc.a
	$(call say,CCLD,$@)
	$(Q)$(UCC) $(UPIE) -o $@ $< $(TEST_MORE) $(B)/libtest.a
$(B)/tests/pie: private UPIE := -static-pie
$(B)/tests/cpc_lookup $(B)/tests/cpc_models $(B)/tests/cpc_presets: $(addprefix $(B)/,$(NAMES_OBJS))
$(B)/tests/cpc_lookup $(B)/tests/cpc_models $(B)/tests/cpc_presets: private TEST_MORE = $(addprefix $(B)/,$(NAMES_OBJS))

# The archive inside the image, that of the tests, of those that ask nothing of the PMU, for machines that differ
# from one without it in other ways, and of those for software PMUs: each a `suite` and the programs it names.
$(B)/archive.cpio: payloads/suite $(PAYLOADS:%=$(B)/payloads/%) $(EVENTS:%=build/events/%) $(B)/vendors
$(B)/tests.cpio: tests/image/suite $(TESTS:%=$(B)/tests/%)
$(B)/basic.cpio: $(B)/basic/suite $(patsubst %,$(B)/tests/%,$(filter-out cpc_%,$(TESTS)))
$(B)/contract.cpio: $(B)/contract/suite $(patsubst %,$(B)/tests/%,$(CONTRACT))
$(B)/archive.cpio $(B)/tests.cpio $(B)/basic.cpio $(B)/contract.cpio: scripts/mkcpio
	$(call say,CPIO,$@)
	$(Q)scripts/mkcpio -o $@ $(patsubst %,--in events %,$(filter build/events/%,$^)) \
	    $(filter-out scripts/% build/events/% $(B)/vendors,$^)
$(B)/basic/suite: tests/image/suite
	@mkdir -p $(@D)
	$(Q)grep -v '^cpc_' $< >$@
$(B)/contract/suite: Makefile
	@mkdir -p $(@D)
	$(Q)printf '%s\n' $(CONTRACT) >$@

# By which scripts/barecpc proves an accelerator before it trusts it.
$(B)/probe: scripts/probe/$(ARCH).S scripts/probe/$(ARCH).ld
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(if $(filter x86_64,$(ARCH)),-m32) -nostdlib -static -no-pie -Wl,--no-warn-rwx-segments \
	    -Wl,-z,noexecstack -Wl,--build-id=none -T scripts/probe/$(ARCH).ld -o $@.elf $<
	$(Q)$(OBJCOPY) $(if $(filter arm64,$(ARCH)),-O binary) $@.elf $@

tests: all $(B)/tests.cpio $(B)/basic.cpio $(B)/contract.cpio

-include $(OBJS:.o=.d) $(EFI_OBJS:.o=.d) $(addprefix $(B)/,$(CPC_OBJS:.o=.d) $(PAYLOAD_OBJS:.o=.d) $(TEST_OBJS:.o=.d) $(NAMES_OBJS:.o=.d) $(FITS_OBJS:.o=.d) $(LIST_OBJS:.o=.d) $(PAYLOADS:%=payloads/%.d) $(TESTS:%=tests/image/%.d))
endif

# Tests under the build machine's C library, and what each needs of the kernel.  There the kernel's own
# string functions take other names (tests/host/kernel_names.h).
HOST_CC      := gcc
HOST_CFLAGS  := -O1 -g -std=gnu11 -Wall -Wextra -Wshadow -Werror -MMD -MP -I. -Iinclude -fno-strict-aliasing
HOST_SAN     := -fsanitize=address,undefined -fno-sanitize-recover=all
HOST_LIB     := tests/host/support.o lib/string.o lib/printf.o
HOST_TESTS   := test_lib test_cmdline test_cpio test_elf test_bootinfo test_page test_efi_cmdline test_efi_tables test_fbcons test_timer test_region test_p_online
test_lib_OBJS      := $(HOST_LIB)
test_cmdline_OBJS  := kern/cmdline.o kern/words.o events/nearer.o kern/null_shape.o tests/host/heap.o $(HOST_LIB)
test_cpio_OBJS     := kern/cpio.o $(HOST_LIB)
test_elf_OBJS      := kern/elf.o $(HOST_LIB)
test_bootinfo_OBJS := kern/bootinfo.o $(HOST_LIB)
test_page_OBJS     := kern/page.o kern/kmalloc.o kern/bootinfo.o $(HOST_LIB)
test_timer_OBJS    := kern/timer.o $(HOST_LIB)
test_region_OBJS   := kern/region.o $(HOST_LIB)
test_p_online_OBJS := kern/sys_sched.o $(HOST_LIB)
test_fbcons_OBJS   := kern/fbcons.o lib/font.o $(HOST_LIB)
test_efi_tables_OBJS  := boot/efi_tables.o kern/bootinfo.o $(HOST_LIB)
test_efi_cmdline_OBJS := boot/efi_cmdline.o kern/words.o events/nearer.o $(HOST_LIB)
# Names of events: of every CPU there is a table for.
HOST_EVENTS  := $(EVENT_LIB) $(addprefix events/,vendors.o intel.o amd.o arm.o)
HOST_TESTS   += events_tables events_presets events_oracle events_perf events_symbolic events_machine
events_machine_OBJS := $(HOST_EVENTS)
build/host/tests/events_machine: | $(EVENT_FILES)
events_presets_OBJS := $(HOST_EVENTS)
# The benchmarks' arithmetic.
HOST_TESTS   += test_report
test_report_OBJS   := tests/host/support.o payloads/report.o payloads/report_record.o payloads/usage.o
# The backends' own presets and the tables'.
HOST_TESTS   += presets_x86 presets_arm64
presets_x86_OBJS   := $(HOST_EVENTS)
presets_arm64_OBJS := $(HOST_EVENTS)
events_tables_OBJS := $(HOST_EVENTS)
events_oracle_OBJS := $(HOST_EVENTS)
events_perf_OBJS   := $(HOST_EVENTS)
events_symbolic_OBJS := $(addprefix payloads/,usage.o lookup.o symbolic.o names.o names_host.o) $(HOST_EVENTS)
# The backends of x86, whichever machine they are tested on, over a file of registers.
HOST_TESTS   += test_topology
test_topology_OBJS    := arch/x86/topology.o $(HOST_LIB)
HOST_TESTS   += test_intel_table
test_intel_table_OBJS = $(test_intel_pcbe_OBJS)
HOST_TESTS   += test_intel_pcbe test_intel_count test_amd_pcbe test_x86_nmi
HOST_X86     := tests/host/named.o tests/host/fake_msr.o arch/x86/topology.o tests/host/x86_set.o arch/x86/pic.o arch/x86/pic_together.o arch/x86/pic_nmi.o arch/x86/evtsel.o arch/x86/models.o arch/x86/extra.o arch/x86/pmu_prove.o kern/kcpc_why.o $(HOST_EVENTS) $(HOST_LIB)
test_intel_pcbe_OBJS  := tests/host/intel_shapes.o arch/x86/intel_shape.o arch/x86/intel_pcbe.o arch/x86/intel_cfg.o $(HOST_X86)
test_intel_count_OBJS := $(test_intel_pcbe_OBJS)
test_x86_nmi_OBJS     := $(test_intel_pcbe_OBJS)
# The machine from arm64's tables, with physical memory where the host has it.
HOST_MACHINE := test_machine_fdt test_machine_acpi
HOST_TESTS   += $(HOST_MACHINE)
$(foreach t,$(HOST_MACHINE),$(eval $(t)_OBJS = tests/host/machine.o arch/arm64/machine.o kern/bootinfo.o $$(HOST_LIB)))
test_machine_fdt_OBJS  += arch/arm64/dt.o arch/arm64/machine_fdt.o
test_machine_acpi_OBJS += arch/arm64/machine_acpi.o kern/acpi.o
build/host/tests/test_machine_fdt: HOST_LIBS := -lfdt
build/host/arch/arm64/machine.o: HOST_CFLAGS += -include tests/host/kernel_printf.h
# kcpc's way from requests to PICs, on the masks that Intel's backend really has.
HOST_TESTS   += kcpc_fit
kcpc_fit_OBJS         := kern/kcpc_bind.o kern/kcpc_assign.o $(test_intel_pcbe_OBJS)
test_amd_pcbe_OBJS   := arch/x86/amd_pcbe.o $(HOST_X86)
# That of arm64 likewise.
HOST_PMUV3   := test_pmuv3 test_pmuv3_count test_pmuv3_overflow test_pmuv3_rules
HOST_TESTS   += $(HOST_PMUV3)
$(foreach t,$(HOST_PMUV3),$(eval $(t)_OBJS = tests/host/fake_pmu.o tests/host/fake_pmu_regs.o tests/host/pmuv3_pics.o tests/host/pmuv3_set.o \
    arch/arm64/pmuv3_pcbe.o arch/arm64/pmuv3_prove.o kern/kcpc_why.o tests/host/named.o $$(HOST_EVENTS) $$(HOST_LIB)))
# libcpc and kcpc over a fake kernel and a PMU of any shape.
HOST_CPC     := cpc_open cpc_error cpc_query cpc_set cpc_request cpc_buf cpc_sample cpc_bind cpc_race cpc_preset cpc_signal cpc_nomem \
    kcpc_assign kcpc_hostile kcpc_pmi kcpc_init \
    kcpc_inherit kcpc_witness kcpc_cpu kcpc_cpu_way kcpc_stir kcpc_profile kcpc_samples
cpc_cxx_OBJS := $(filter-out cpc/arm64/% cpc/x86/%,$(CPC_OBJS)) cpc/noread.o $(EVENT_LIB)
HOST_TESTS   += $(HOST_CPC) cpc_cxx
$(foreach t,$(HOST_CPC),$(eval $(t)_OBJS = $$(HOST_CPC_OBJS)))
kcpc_profile_OBJS += tests/host/profile.o
kcpc_samples_OBJS += tests/host/profile.o
HOST_CPC_OBJS := tests/host/host.o tests/host/fake_kernel.o tests/host/no_pages.o tests/host/fake_pcbe.o $(filter-out cpc/arm64/% cpc/x86/%,$(CPC_OBJS)) cpc/noread.o \
    kern/kcpc.o kern/kcpc_assign.o kern/kcpc_bind.o kern/kcpc_cpu.o kern/kcpc_image.o kern/kcpc_inherit.o kern/kcpc_init.o kern/kcpc_live.o kern/kcpc_profile.o kern/kcpc_run.o kern/kcpc_sys.o kern/kcpc_why.o \
    kern/witness.o kern/kcpc_names.o $(EVENT_LIB) $(HOST_LIB)
build/host/tests/cpc_nomem: HOST_LDFLAGS := -Wl,--wrap=calloc,--wrap=realloc # it decides when memory is out
# Counter pages, which the library on this side cannot read.
HOST_TESTS   += kcpc_page
HOST_PAGE_OBJS := kern/kcpc_page.o tests/host/fake_mmu.o $(filter-out tests/host/host.o tests/host/no_pages.o,$(HOST_CPC_OBJS))
kcpc_page_OBJS := $(HOST_PAGE_OBJS)
# Every interleaving of kcpc's operations on the software PMU.
HOST_TESTS   += explore
explore_OBJS := tests/host/named.o $(addprefix events/,vendors.o intel.o amd.o arm.o) $(addprefix tests/host/explore_,state.o model.o world.o page.o search.o) kern/null_shape.o kern/null_pcbe.o $(HOST_PAGE_OBJS)
$(foreach b,host tsan,build/$(b)/kern/kcpc_init.o build/$(b)/kern/witness.o): HOST_CFLAGS += -include tests/host/kernel_printf.h

# Threads, in objects of their own: the two sanitizers exclude each other.
TSAN_TESTS   := cpc_threads
TSAN_OBJS    := $(addprefix build/tsan/,$(HOST_CPC_OBJS))

host-tests: $(HOST_TESTS:%=build/host/tests/%) $(TSAN_TESTS:%=build/host/tests/%) host-tools

# The tables as files.
$(EVENT_FILES): build/events/%: build/events/mktable
	$(call say,TABLE,$@)
	$(Q)$< $* $@
build/events/mktable: scripts/mktable.c events/vendors.c events/intel.c events/amd.c events/arm.c events/table.h events/events.h Makefile
	$(call say,CCLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -O1 -std=gnu11 -I. -o $@ $(filter %.c,$^)

# What scripts/barecpc runs on the build machine.
host-tools: build/host/encode build/host/list build/host/fits $(EVENT_FILES)
build/host/fits: $(addprefix build/host/,payloads/fits_host.o payloads/options_next.o kern/kcpc_assign.o)
build/host/encode build/host/list build/host/fits: build/host/%: build/host/payloads/%.o $(addprefix build/host/,payloads/usage.o payloads/names.o payloads/names_host.o payloads/own_host.o payloads/lookup.o payloads/symbolic.o $(EVENT_LIB))
	$(call say,CCLD,$@)
	$(Q)$(HOST_CC) -fsanitize=address,undefined -o $@ $^

build/host/lib/%.o build/host/kern/%.o build/host/arch/%.o build/host/boot/%.o build/tsan/lib/%.o build/tsan/kern/%.o: HOST_CFLAGS += -include tests/host/kernel_names.h -fno-builtin
build/host/arch/x86/%.o: HOST_CFLAGS += -include tests/host/fake_msr.h
build/host/arch/arm64/%.o build/host/tests/host/pmuv3_pics.o: HOST_CFLAGS += -include tests/host/fake_pmu.h
build/host/boot/%.o $(addprefix build/host/tests/host/,test_efi_cmdline.o test_efi_tables.o): HOST_CFLAGS += -DGNU_EFI_USE_MS_ABI \
    -isystem /usr/include/efi -isystem /usr/include/efi/$(shell uname -m)
build/host/%.o: COMPILE = $(HOST_CC) $(HOST_CFLAGS) $(HOST_SAN)
build/host/%.o: %.c Makefile
	$(compile)
build/tsan/%.o: COMPILE = $(HOST_CC) $(HOST_CFLAGS) -fsanitize=thread
build/tsan/%.o: %.c Makefile
	$(compile)
build/host/tests/host/cpc_cxx.o: COMPILE = g++ $(filter-out -std=gnu11,$(HOST_CFLAGS)) $(HOST_SAN)
build/host/%.o: %.cc Makefile
	$(compile)

.SECONDEXPANSION:
$(HOST_TESTS:%=build/host/tests/%): build/host/tests/%: build/host/tests/host/%.o $$(addprefix build/host/,$$($$*_OBJS))
	$(call say,CCLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -fsanitize=address,undefined $(HOST_LDFLAGS) -o $@ $^ -lcmocka $(HOST_LIBS)

$(TSAN_TESTS:%=build/host/tests/%): build/host/tests/%: build/tsan/tests/host/%.o $(TSAN_OBJS)
	$(call say,CCLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -fsanitize=thread -o $@ $^ -lcmocka

include tests/fuzz/fuzz.mk

-include $(wildcard build/host/*/*.d build/host/*/*/*.d build/tsan/*/*.d build/tsan/*/*/*.d)

# Every test, those under the build machine's C library, those that boot.  The last line is the verdict.
# All cores build, unless -j says how many.
check check-all: NEEDS = tests host-tests fuzz-targets emulator ubsan
check: CHECK =
check-all: CHECK = --all
check-host: NEEDS = host-tests
check-host: CHECK = tests/host
check-image: NEEDS = tests fuzz-targets emulator ubsan
check-image: CHECK = tests/image tests/cli
check check-all check-host check-image:
	$(Q)$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc)) $(NEEDS)
	$(Q)BARECPC_BUILD=no tests/run $(CHECK)
# After the plain kernels, whose programs it takes.
ubsan: tests
	$(Q)$(MAKE) --no-print-directory SAN=ubsan all
# QEMU with an x86 PMU: minutes the first time, kept outside the tree.
emulator:
	$(Q)scripts/qemu-pmu --path x86_64 >/dev/null

# Without ARCH: the architecture that can count on this machine.
run:
	$(Q)arch=$(ARCH); arch=$${arch:-$$(scripts/barecpc arch)} && \
	    scripts/barecpc run --arch $$arch --results build/$$arch/results.jsonl

# One disk image for UEFI machines of both architectures, to write to a stick.
disk: all
	$(call say,DISK,build/barecpc.img)
	$(Q)scripts/mkdisk build/barecpc.img

# What the kernel's and the library's operations cost, in instructions; docs/measurements.md has the table.
bench:
	$(Q)for priv in user system; do \
		echo "At $$priv privilege:" && \
		scripts/barecpc run --arch $(or $(ARCH),arm64) --accel tcg --append priv=$$priv -- bench || exit; done

gdb:
	$(Q)scripts/barecpc run --arch $(or $(ARCH),arm64) --gdb

lint:
	$(Q)scripts/lint
format:
	$(Q)git ls-files '*.[ch]' | xargs clang-format -i

clean:
	rm -rf build

.PHONY: fuzz fuzz-targets emulator ubsan all tests host-tools host-tests clean check check-all check-host check-image run bench disk gdb lint format
.DELETE_ON_ERROR:
