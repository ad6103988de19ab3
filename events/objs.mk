# events/: from an event's name to what a PIC's registers hold.  The kernel has KERN_EVENT_OBJS alone, which know
# no name of an event.
EVENT_LIB := $(addprefix events/,parse.o mod.o masks.o key.o find.o encode.o encode_netburst.o perf.o name.o preset.o \
    suggest.o nearer.o amd_pics.o cpu.o \
    file.o machine.o own_intel.o own_amd.o own_arm.o own_soft.o)
KERN_EVENT_OBJS := $(addprefix events/,amd_pics.o nearer.o)
# One table for each vendor.
EVENT_VENDORS := intel amd arm
# The tables as files, which programs map: those of the image, and of the build machine's tools.
EVENT_FILES := $(EVENT_VENDORS:%=build/events/%)

$(EVENT_FILES): build/events/%: build/events/mktable
	$(call say,TABLE,$@)
	$(Q)$< $* $@
build/events/mktable: scripts/mktable.c events/vendors.c $(EVENT_VENDORS:%=events/%.c) events/table.h \
    events/events.h $(MK)
	$(call say,CCLD,$@)
	@mkdir -p $(@D)
	$(Q)gcc -O1 -std=gnu11 -I. -o $@ $(filter %.c,$^)
