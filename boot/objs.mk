# boot/: one entry for each boot protocol.
BOOT_OBJS := $(addprefix boot/,$(if $(filter arm64,$(ARCH)),linux_image.o image.o,pvh.o pvh_info.o))

# The UEFI application: the flat kernel in a PE file that gnu-efi makes.
EFI       := $(B)/$(if $(filter x86_64,$(ARCH)),BOOTX64,BOOTAA64).EFI
EFI_ARCH  := $(if $(filter x86_64,$(ARCH)),x86_64,aarch64)
EFI_OBJS  := $(addprefix $(B)/efi/,$(addprefix boot/,efi.o efi_file.o efi_write.o efi_cmdline.o efi_archive.o \
    efi_kept.o efi_variables.o efi_net.o efi_tables.o \
    $(if $(filter x86_64,$(ARCH)),efi_x86.o,efi_arm64.o efi_enter_arm64.o)) kern/platform/bootinfo.o \
    kern/platform/words.o kern/platform/kept.o events/nearer.o lib/string.o lib/printf.o)
# gnu-efi of the other architecture is unpacked by scripts/setup: the two packages exclude each other.
GNUEFI    := $(if $(filter $(EFI_ARCH),$(shell uname -m)),,$(CACHE)/gnu-efi-$(if \
    $(filter x86_64,$(ARCH)),amd64,arm64))/usr
EFICFLAGS := -O2 -g -std=gnu11 $(WARN) -I. -MMD -MP -ffreestanding -fno-stack-protector -fno-strict-aliasing \
    -mgeneral-regs-only -nostdinc -isystem $(GCC_HEADERS) -isystem $(GNUEFI)/include/efi \
    -isystem $(GNUEFI)/include/efi/$(EFI_ARCH)
EFICFLAGS += -fpic -fvisibility=hidden    # gnu-efi's start code relocates it
EFICFLAGS += -fshort-wchar                # CHAR16
EFICFLAGS += -fno-tree-loop-distribute-patterns
# The start code of newer versions calls _entry().  gnu-efi's own prepares what this application does not use.
EFI_LD    := --no-undefined --defsym=_entry=efi_main
ifeq ($(ARCH),x86_64)
EFICFLAGS += -DGNU_EFI_USE_MS_ABI -maccumulate-outgoing-args # firmware is called by Microsoft's convention
EFICFLAGS += -mno-red-zone                # firmware's interrupts use our stack
EFICFLAGS += -fcf-protection=none
# --subsystem=10: an application.
EFI_COPY  := --target efi-app-x86_64 --subsystem=10
else
EFICFLAGS += -mno-outline-atomics -mstrict-align
# On arm64 the start code of gnu-efi 3.0.15 (Debian 12) holds the PE header, and takes the subsystem from the linker.
# In newer versions the linker script defines ImageBase, and objcopy writes the header.
EFI_LD    += --defsym=EFI_SUBSYSTEM=0xa
EFI_COPY   = $(if $(shell grep -s ImageBase $(GNUEFI)/lib/elf_aarch64_efi.lds),\
    --target efi-app-aarch64 --subsystem=10,-O binary)
endif
EFI_SECTIONS := $(addprefix -j ,.text .sdata .data .rodata .dynamic .dynsym .rel .rela '.rel.*' '.rela.*' .reloc)

$(B)/efi/%.o: COMPILE = $(CC) $(EFICFLAGS)
$(B)/efi/%.o: %.c $(MK)
	$(compile)
$(B)/efi/%.o: %.S $(MK)
	$(compile)
$(B)/efi/image.o: EFICFLAGS += -DEFI_KERNEL='"$(FLAT)"'
$(B)/efi/image.o: boot/efi_image.S $(FLAT) $(MK)
	$(compile)

$(EFI): $(EFI_OBJS) $(B)/efi/image.o
	$(call say,EFI,$@)
	$(Q)$(LD) -nostdlib -znocombreloc -shared -Bsymbolic $(EFI_LD) --build-id=none -z noexecstack --no-warn-rwx-segments \
	    -T $(GNUEFI)/lib/elf_$(EFI_ARCH)_efi.lds -o $(B)/efi/app.so \
	    $(GNUEFI)/lib/crt0-efi-$(EFI_ARCH).o $^ -L$(GNUEFI)/lib -lgnuefi
	$(Q)$(OBJCOPY) $(EFI_SECTIONS) $(EFI_COPY) $(B)/efi/app.so $@
