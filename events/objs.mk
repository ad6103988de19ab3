# events/: from an event's name to what a PIC's registers hold.  The kernel has KERN_EVENT_OBJS alone, which know
# no name of an event.
EVENT_LIB := $(addprefix events/names/,parse.o mod.o masks.o key.o find.o perf.o name.o preset.o suggest.o)
EVENT_LIB += $(addprefix events/,encode.o encode_netburst.o nearer.o amd_pics.o cpu.o file.o machine.o core_type.o \
    own_intel.o own_amd.o own_arm.o own_soft.o)
KERN_EVENT_OBJS := $(addprefix events/,amd_pics.o nearer.o names/linux_event.o)
# One table for each vendor.
EVENT_VENDORS := intel amd arm
EVENT_TABLES  := $(EVENT_VENDORS:%=events/generated/%.o)
# The tables as files, which programs map: those of the image, and of the build machine's tools.
EVENT_B       := build/events
EVENT_FILES   := $(EVENT_VENDORS:%=$(EVENT_B)/%)

# Descriptions of events come from the installed libpfm4 (LIBPFM4=name: from another library).  The file libpfm4 holds
# what was found of it.  With another version, or none, it changes, and the tables are made again.
LIBPFM4 := pfm
LIBPFM4_FOUND := $(LIBPFM4) $(wildcard /usr/lib/*/libpfm.* $(CACHE)/libpfm4-dev-*/usr/lib/*/libpfm.*)
ifeq ($(filter clean,$(MAKECMDGOALS)),)
$(shell mkdir -p $(EVENT_B); \
    echo '$(LIBPFM4_FOUND)' | cmp -s - $(EVENT_B)/libpfm4 || echo '$(LIBPFM4_FOUND)' >$(EVENT_B)/libpfm4)
endif

# Two makes may be at work here, one for the image and one for the tools.  So each file appears whole.
$(EVENT_FILES): $(EVENT_B)/%: events/generated/%.c events/mktables/file/table_file.py $(EVENT_B)/descriptions
	$(call say,TABLE,$@)
	$(Q)python3 -B events/mktables/file/table_file.py $< $@.$$$$ $(EVENT_B)/descriptions && mv $@.$$$$ $@
$(EVENT_B)/descriptions: events/mktables/file/describe_all.sh events/mktables/file/names.c $(EVENT_B)/libpfm4
	$(call say,TEXT,$@)
	$(Q)LIBPFM4=$(LIBPFM4) $< >$@.$$$$ && mv $@.$$$$ $@
