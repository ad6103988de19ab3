# tests/fuzz/: libFuzzer targets for the parsers of the kernel, built by clang with sanitizers.  Each is a file NAME.c.
# tests/cli/harness/fuzz.sh runs them; make fuzz RUNS=n runs them longer.
FUZZ        := elf cpio cmdline efi_cmdline memmap boot_params pxe kept acpi_arm64 acpi_x86 smbios dt event_tables
FUZZ_CC     := clang
# In these targets pa_to_va() adds an address to NULL.
FUZZ_SAN    := -fsanitize=address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all
FUZZ_CFLAGS := -O1 -g -std=gnu11 -Wall -Wextra -MMD -MP -Itests/fuzz/shadow -Itests/lib/host/shadow -I. -Iinclude \
    -fno-strict-aliasing -Wno-c2x-extensions
FUZZ_LIB    := tests/fuzz/fuzz.o lib/string.o lib/text.o lib/printf.o
FB := build/fuzz
fuzz_objs = $(addprefix $(FB)/,$(1))

$(FB)/elf: $(call fuzz_objs,kern/proc/elf.o)
$(FB)/cpio: $(call fuzz_objs,kern/file/cpio.o)
FUZZ_UART := tests/lib/host/no_uart.o $(UART_OBJS)
$(FB)/cmdline: $(call fuzz_objs,$(FUZZ_UART) kern/platform/command/cmdline.o \
    $(HOST_WORDS) $(addprefix kern/cpc/soft/soft_,shape.o model.o) \
    tests/lib/host/heap.o)
$(FB)/efi_cmdline: $(call fuzz_objs,boot/efi/efi_cmdline.o $(HOST_WORDS))
$(FB)/memmap: $(call fuzz_objs,boot/efi/efi_tables.o boot/efi/efi_memmap.o kern/platform/bootinfo.o)
$(FB)/boot_params: $(call fuzz_objs,$(addprefix boot/,linux_params.o efi/efi_handed.o pvh_info.o) \
    kern/platform/bootinfo.o)
$(FB)/pxe: $(call fuzz_objs,boot/efi/efi_net.o tests/lib/host/fake_pxe.o)
$(FB)/kept: $(call fuzz_objs,kern/platform/results/kept.o)
$(FB)/smbios: $(call fuzz_objs,kern/platform/firmware/smbios.o \
    kern/platform/firmware/acpi.o)
$(FB)/acpi_arm64: $(call fuzz_objs,tests/fuzz/tables.o $(addprefix arch/arm64/,machine.o machine_acpi.o) \
    kern/platform/firmware/acpi.o kern/platform/firmware/acpi_uart.o $(FUZZ_UART) \
    kern/platform/bootinfo.o)
$(FB)/acpi_x86: $(call fuzz_objs,tests/fuzz/tables.o $(addprefix kern/platform/,firmware/acpi.o firmware/acpi_uart.o \
    firmware/acpi_watchdog.o firmware/watchdog.o) $(UART_OBJS) arch/x86/smp.o $(addprefix arch/x86/dev/,halt.o \
    refclock.o))
$(FB)/dt: $(call fuzz_objs,$(addprefix arch/arm64/,machine.o fdt/machine_fdt.o fdt/uart_fdt.o fdt/pci_fdt.o fdt/dt.o) \
    $(FUZZ_UART) boot/image.o kern/platform/bootinfo.o)
# The parsers' files hold functions that the targets never call.  The symbols that they need stay undefined.
$(FB)/acpi_x86 $(FB)/dt: FUZZ_LDFLAGS := -no-pie -Wl,--unresolved-symbols=ignore-all -lfdt

$(FB)/event_tables: $(call fuzz_objs,$(filter-out events/file.o,$(EVENT_LIB))) | $(EVENT_FILES)

fuzz-targets: $(FUZZ:%=$(FB)/%)
fuzz: fuzz-targets
	$(Q)BARECPC_BUILD=no RUNS=$(or $(RUNS),1000000) tests/cli/harness/fuzz.sh

$(foreach d,lib dev kern arch boot,$(FB)/$(d)/%.o): FUZZ_CFLAGS += -fno-builtin
$(foreach d,lib dev kern arch boot,$(FB)/$(d)/%.o): AFTER = objcopy --redefine-syms=$(RENAMES) --redefine-sym \
    printf=fake_printf
$(FB)/lib/printf.o: FUZZ_CFLAGS += -Wno-everything
$(FB)/boot/%.o $(addprefix $(FB)/tests/,fuzz/efi_cmdline.o fuzz/memmap.o fuzz/pxe.o lib/host/fake_pxe.o): \
    FUZZ_CFLAGS += -DGNU_EFI_USE_MS_ABI -fshort-wchar -isystem /usr/include/efi \
    -isystem /usr/include/efi/$(shell uname -m)
$(FB)/%.o: COMPILE = $(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link $(FUZZ_SAN)
$(FB)/%.o: %.c $(MK) $(RENAMES)
	$(compile)
$(FUZZ:%=$(FB)/%): $(FB)/%: $(FB)/tests/fuzz/%.o $(FUZZ_LIB:%=$(FB)/%)
	$(call say,CCLD,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer $(FUZZ_SAN) -o $@ $^ $(FUZZ_LDFLAGS)
-include $(shell find $(FB) -name '*.d' 2>/dev/null)
