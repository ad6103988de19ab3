# arch/x86/: the machine at the root; traps, memory, devices and the PMU in their folders.
ARCH_OBJS := $(addprefix arch/x86/,start.o boot.o init.o cpuid.o cpu.o topology.o smp.o trampoline.o describe.o)
ARCH_OBJS += $(addprefix arch/x86/trap/,entry.o trap.o nmi.o mcheck.o safe.o sysmap.o lwp.o switch.o \
    xcr0.o fpu.o sigframe.o sigcopy.o)
ARCH_OBJS += $(addprefix arch/x86/mm/,early.o pt.o mmu.o)
ARCH_OBJS += $(addprefix arch/x86/dev/,console.o pci.o acpi_watchdog.o tco.o apic.o refclock.o tsc.o tsc_sync.o \
    timer.o halt.o efi_call.o)
ARCH_OBJS += kern/platform/firmware/acpi_watchdog.o
ARCH_OBJS += $(addprefix arch/x86/pmu/,pmu.o models.o evtsel.o pic.o config.o nmi.o)
ARCH_OBJS += $(addprefix arch/x86/pmu/intel/,intel_shape.o core_type.o intel_pcbe.o intel_configure.o)
ARCH_OBJS += $(addprefix arch/x86/power/,state.o strain.o quiet.o)
ARCH_OBJS += $(addprefix arch/x86/pmu/amd/,amd_pcbe.o)

KCFLAGS += -mstack-protector-guard=global # gs is not always the kernel's
KCFLAGS += -mcmodel=kernel                # linked in the top 2 GiB
KCFLAGS += -mno-red-zone                  # an interrupt uses the stack it finds
KCFLAGS += -fcf-protection=none
KCFLAGS += -mpreferred-stack-boundary=3   # nothing on the stack needs 16 bytes
KCFLAGS += -fno-align-loops -fno-align-jumps # padding before a loop is executed, and counted
# Firmware may expect 16.
$(B)/arch/x86/dev/efi_call.o: KCFLAGS += -mpreferred-stack-boundary=4 -mincoming-stack-boundary=3
