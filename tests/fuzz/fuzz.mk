# libFuzzer targets, built by clang with sanitizers: tests/fuzz/NAME.c, over the kernel's own parsers.
# tests/cli/fuzz.sh runs them; make fuzz RUNS=n for longer.
FUZZ         := elf cpio cmdline efi_cmdline memmap acpi_arm64 acpi_x86 dt
FUZZ_CC      := clang
# pa_to_va() adds to NULL here.
FUZZ_SAN     := -fsanitize=address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all
FUZZ_CFLAGS  := -O1 -g -std=gnu11 -Wall -Wextra -MMD -MP -I. -Iinclude -fno-strict-aliasing
FUZZ_LIB     := tests/fuzz/fuzz.o lib/string.o lib/printf.o
fuzz_elf     := kern/elf.o
fuzz_cpio    := kern/cpio.o
fuzz_cmdline := kern/cmdline.o kern/words.o kern/null_shape.o events/nearer.o tests/host/heap.o
fuzz_efi_cmdline := boot/efi_cmdline.o kern/words.o events/nearer.o
fuzz_memmap  := boot/efi_tables.o kern/bootinfo.o
fuzz_acpi_arm64 := tests/fuzz/tables.o arch/arm64/machine.o arch/arm64/machine_acpi.o kern/acpi.o kern/bootinfo.o
fuzz_acpi_x86   := tests/fuzz/tables.o kern/acpi.o $(addprefix arch/x86/,uart.o halt.o smp.o refclock.o)
fuzz_dt      := arch/arm64/machine.o arch/arm64/machine_fdt.o arch/arm64/dt.o boot/image.o kern/bootinfo.o
# What the parsers' files have besides and the targets never call, CPUs' start for one, is left undefined.
build/fuzz/acpi_x86 build/fuzz/dt: FUZZ_LDFLAGS := -no-pie -Wl,--unresolved-symbols=ignore-all -lfdt

fuzz-targets: $(FUZZ:%=build/fuzz/%)
fuzz: fuzz-targets
	$(Q)BARECPC_BUILD=no RUNS=$(or $(RUNS),1000000) tests/cli/fuzz.sh

build/fuzz/lib/%.o build/fuzz/kern/%.o build/fuzz/arch/%.o build/fuzz/boot/%.o: FUZZ_CFLAGS += -fno-builtin \
    -include tests/host/kernel_names.h -include tests/host/kernel_printf.h
build/fuzz/lib/printf.o: FUZZ_CFLAGS += -Wno-everything
build/fuzz/arch/x86/%.o: FUZZ_CFLAGS += -include tests/fuzz/ports.h
build/fuzz/arch/arm64/%.o build/fuzz/boot/image.o: FUZZ_CFLAGS += -include tests/host/fake_pmu.h
build/fuzz/boot/%.o build/fuzz/tests/fuzz/efi_cmdline.o build/fuzz/tests/fuzz/memmap.o: FUZZ_CFLAGS += -DGNU_EFI_USE_MS_ABI \
    -fshort-wchar -isystem /usr/include/efi -isystem /usr/include/efi/$(shell uname -m)
build/fuzz/%.o: COMPILE = $(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link $(FUZZ_SAN)
build/fuzz/%.o: %.c Makefile tests/fuzz/fuzz.mk
	$(compile)
$(FUZZ:%=build/fuzz/%): build/fuzz/%: build/fuzz/tests/fuzz/%.o $(FUZZ_LIB:%=build/fuzz/%) $$(addprefix build/fuzz/,$$(fuzz_$$*))
	$(call say,CCLD,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer $(FUZZ_SAN) -o $@ $^ $(FUZZ_LDFLAGS)
-include $(wildcard build/fuzz/*/*.d build/fuzz/*/*/*.d)
