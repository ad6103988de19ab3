# arch/arm64/: the machine at the root; traps, memory, devices and the PMU in their folders.
ARCH_OBJS := $(addprefix arch/arm64/,init.o vmm.o cpu.o describe.o cpu_name.o ras.o machine.o machine_acpi.o)
ARCH_OBJS += $(addprefix arch/arm64/fdt/,dt.o machine_fdt.o uart_fdt.o pci_fdt.o)
ARCH_OBJS += $(addprefix arch/arm64/trap/,vectors.o trap.o sysmap.o lwp.o switch.o fp.o fp_regs.o \
    sigframe.o sigcopy.o)
ARCH_OBJS += $(addprefix arch/arm64/mm/,early.o pt.o mmu.o usercopy.o usercopy_loops.o)
ARCH_OBJS += $(addprefix arch/arm64/dev/,pci.o psci.o spin_table.o bcm_pm.o watchdog.o console.o gic.o gicv2.o \
    gicv3.o timer.o)
ARCH_OBJS += $(addprefix arch/arm64/pmu/,pmu.o pmuv3_pcbe.o core_type.o pmuv3_pics.o pmuv3_spin.o proof.o)

KCFLAGS += -mno-outline-atomics           # the out-of-line helpers are in libgcc
# With the MMU off, unaligned accesses fault, and the word of kern/platform/stack_guard.c is not mapped.
$(B)/arch/arm64/mm/early.o $(B)/arch/arm64/mm/pt.o: KCFLAGS += -mstrict-align -fno-stack-protector
# The distribution's libfdt uses SIMD registers.  It runs only at boot, before there is SIMD state to keep.
LIBFDT := $(CACHE)/libfdt-dev-arm64/usr
LIBS   := $(LIBFDT)/lib/aarch64-linux-gnu/libfdt.a
$(addprefix $(B)/,boot/image.o boot/image_uefi.o $(addprefix arch/arm64/fdt/,dt.o machine_fdt.o uart_fdt.o \
    pci_fdt.o)): \
    KCFLAGS += -isystem $(LIBFDT)/include
LDERRATA := --fix-cortex-a53-843419       # adrp near the end of a page; the fix costs nothing on other cores
