# kern/platform/: what the firmware and the loader hand over; the console; the results that are kept.
KERN_OBJS += $(addprefix kern/platform/,stack_guard.o bootinfo.o console.o ksym.o entry_budget.o boot_time.o run_end.o)
KERN_OBJS += $(addprefix kern/platform/command/,words.o cmdline.o)
KERN_OBJS += $(addprefix kern/platform/firmware/,acpi.o acpi_uart.o smbios.o watchdog.o \
    efirt.o)
KERN_OBJS += $(addprefix kern/platform/results/,kept.o keep.o fb_console.o)
