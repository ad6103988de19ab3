# kern/platform/: what the firmware and the loader hand over; the console.
KERN_OBJS += $(addprefix kern/platform/,stack_guard.o bootinfo.o kept.o keep.o words.o cmdline.o console.o \
    fb_console.o ksym.o acpi.o acpi_uart.o smbios.o smbios_dimm.o watchdog.o acpi_watchdog.o efirt.o entry_budget.o quiet_word.o \
    boot_time.o run_end.o)
