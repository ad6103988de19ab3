# boot/: one entry for each boot protocol.
BOOT_OBJS := $(addprefix boot/,$(if $(filter arm64,$(ARCH)),linux_image.o image.o image_uefi.o efi/efi_memmap.o \
    efi/efi_handed.o,linux_x86.o linux_params.o efi/efi_handed.o pvh.o pvh_info.o))

# The UEFI application and the flat kernel in one file.  Linux's boot loaders start it, too.
EFI       := $(B)/$(if $(filter x86_64,$(ARCH)),BOOTX64,BOOTAA64).EFI
# The same file, under the name that it has for those loaders.
LINUX     := $(B)/$(if $(filter x86_64,$(ARCH)),bzImage,Image)
EFI_ARCH  := $(if $(filter x86_64,$(ARCH)),x86_64,aarch64)
EFI_OBJS  := $(addprefix $(B)/efi/,$(addprefix boot/efi/,efi.o efi_file.o efi_write.o efi_cmdline.o efi_archive.o \
    efi_kept.o efi_variables.o efi_net.o efi_tables.o efi_memmap.o \
    $(if $(filter x86_64,$(ARCH)),efi_x86.o,efi_arm64.o efi_enter_arm64.o)) kern/platform/bootinfo.o \
    kern/platform/command/words.o kern/platform/results/kept.o events/nearer.o lib/string.o lib/printf.o)
# The headers of gnu-efi.  The other architecture's are unpacked by scripts/setup: the two packages exclude each other.
GNUEFI    := $(if $(filter $(EFI_ARCH),$(shell uname -m)),,$(CACHE)/gnu-efi-$(if \
    $(filter x86_64,$(ARCH)),amd64,arm64))/usr
EFICFLAGS := -O2 -g -std=gnu11 $(WARN) -I. -MMD -MP -ffreestanding -fno-stack-protector -fno-strict-aliasing \
    -mgeneral-regs-only -nostdinc -isystem $(GCC_HEADERS) -isystem $(GNUEFI)/include/efi \
    -isystem $(GNUEFI)/include/efi/$(EFI_ARCH)
EFICFLAGS += -fpic -fvisibility=hidden    # firmware relocates it
EFICFLAGS += -fshort-wchar                # CHAR16
EFICFLAGS += -fno-tree-loop-distribute-patterns
ifeq ($(ARCH),x86_64)
EFICFLAGS += -DGNU_EFI_USE_MS_ABI -maccumulate-outgoing-args # firmware is called by Microsoft's convention
EFICFLAGS += -mno-red-zone                # firmware's interrupts use our stack
EFICFLAGS += -fcf-protection=none
else
EFICFLAGS += -mno-outline-atomics -mstrict-align
endif
# The first page of the x86-64 file, with a 16-bit entry.
EFI_SETUP := $(if $(filter x86_64,$(ARCH)),$(B)/efi/setup.bin)

$(B)/efi/%.o: COMPILE = $(CC) $(EFICFLAGS)
$(B)/efi/%.o: %.c $(MK)
	$(compile)
$(B)/efi/%.o: %.S $(MK)
	$(compile)
$(B)/efi/setup.bin: $(B)/efi/boot/linux_setup.o
	$(Q)$(LD) --oformat binary -Ttext 0 -e 0 -o $@ $<
$(B)/efi/app.elf: $(EFI_OBJS) boot/efi/efi.ld
	$(call say,LD,$@)
	$(Q)$(LD) -pie --no-dynamic-linker -Bsymbolic --no-undefined --build-id=none -z noexecstack -z text \
	    --no-warn-rwx-segments -e efi_main -T boot/efi/efi.ld -o $@ $(EFI_OBJS)
$(EFI): $(B)/efi/app.elf $(FLAT) $(EFI_SETUP) scripts/build/mkefi
	$(call say,EFI,$@)
	$(Q)scripts/build/mkefi --kernel $(FLAT) $(EFI_SETUP:%=--setup %) -o $@ $<
ifeq ($(SAN),)
$(LINUX): $(EFI)
	$(Q)ln -f $< $@
endif
