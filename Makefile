# barecpc: the whole build.  Objects land in build/$(ARCH)/, listed in reading order.
#   make                build the image of both architectures (ARCH=arm64 or x86_64: of one)
#   make run            install what is missing, build, boot the default suite in QEMU, print its table
#   make check          every test; check-host, check-image: a part of them
#   make lint format    layers, formatting, shell; rewrite the formatting
#   make gdb            boot and wait for a debugger
#   V=1 shows the commands.

ARCHS   := arm64 x86_64
V       ?=
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$(2)')

ifeq ($(ARCH),)
# Without ARCH: once for each architecture.
all payloads tests clean-arch:
	$(Q)for a in $(ARCHS); do $(MAKE) --no-print-directory ARCH=$$a $@ || exit; done
else

B       := build/$(ARCH)
DIR     := $(if $(filter x86_64,$(ARCH)),arch/x86,arch/arm64)
CROSS   := $(if $(filter x86_64,$(ARCH)),x86_64-linux-gnu-,aarch64-linux-gnu-)
CC      := $(CROSS)gcc
LD      := $(CROSS)ld
OBJCOPY := $(CROSS)objcopy
NM      := $(CROSS)nm
AR      := $(CROSS)ar

WARN    := -Wall -Wextra -Wshadow -Wmissing-prototypes -Werror
KCFLAGS := -O2 -g -std=gnu11 $(WARN) -I. -Iinclude/kernel -MMD -MP -ffreestanding -nostdinc -isystem $(shell $(CC) -print-file-name=include)
KCFLAGS += -fno-pic -fno-stack-protector -fno-common -fno-strict-aliasing
KCFLAGS += -fno-omit-frame-pointer        # backtraces walk frame pointers
KCFLAGS += -mgeneral-regs-only            # LWPs' SIMD state is left alone
KCFLAGS += -fno-asynchronous-unwind-tables
ifeq ($(ARCH),x86_64)
KCFLAGS += -mcmodel=kernel                # linked in the top 2 GiB
KCFLAGS += -mno-red-zone                  # an interrupt uses the stack it finds
KCFLAGS += -fcf-protection=none
else
KCFLAGS += -mno-outline-atomics           # their helpers are in libgcc
endif

# lib/: knows no machine.
LIB_OBJS := lib/string.o lib/printf.o
# kern/: processes, LWPs, system calls; names no register.
KERN_OBJS := kern/main.o kern/bootinfo.o kern/page.o kern/kmalloc.o kern/cons.o kern/ksym.o kern/trap.o

ARCH_OBJS :=
BOOT_OBJS :=

OBJS := $(addprefix $(B)/,$(BOOT_OBJS) $(ARCH_OBJS) $(KERN_OBJS) $(LIB_OBJS))

all: $(B)/kernel.elf

$(B)/%.o: %.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(KCFLAGS) -c -o $@ $<

$(B)/%.o: %.S Makefile
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(KCFLAGS) -D__ASSEMBLER__ -c -o $@ $<

# gcc would turn the loops of memcpy and memset into calls of themselves.
$(B)/lib/string.o: KCFLAGS += -fno-tree-loop-distribute-patterns

# Two links: the first with an empty symbol table, the second with the table made from the first.  The
# table lies behind the text, whose addresses it therefore does not move.
LDFLAGS := -nostdlib -z noexecstack -z max-page-size=4096 --build-id=none -T $(DIR)/kernel.ld

$(B)/ksyms0.o: scripts/mksyms
	@mkdir -p $(@D)
	$(Q)scripts/mksyms $(NM) >$(B)/ksyms0.S && $(CC) -c -o $@ $(B)/ksyms0.S

$(B)/kernel.elf: $(OBJS) $(B)/ksyms0.o $(DIR)/kernel.ld
	$(call say,LD,$@)
	$(Q)$(LD) $(LDFLAGS) -o $(B)/kernel0.elf $(OBJS) $(B)/ksyms0.o
	$(Q)scripts/mksyms $(NM) $(B)/kernel0.elf >$(B)/ksyms.S
	$(Q)$(CC) -c -o $(B)/ksyms.o $(B)/ksyms.S
	$(Q)$(LD) $(LDFLAGS) -o $@ $(OBJS) $(B)/ksyms.o

-include $(OBJS:.o=.d)
endif

clean:
	rm -rf build

.PHONY: all payloads tests clean clean-arch check check-host check-image run gdb lint format
.DELETE_ON_ERROR:
