# The whole build of barecpc.  Objects go to build/$(ARCH)/.  Each folder lists its objects in objs.mk, in reading
# order.
#
#     make                build the image of both architectures (ARCH=arm64 or x86_64: of one)
#     make run            install what is missing, build, boot the default suite in QEMU, print its table
#     make check          every test; check-host, check-image: a part of them
#     make check-kvm      the image under the KVM of a Linux in emulation
#     make check-all      the same, and as many campaigns as fit in two hours; RESUME=yes: keep what passed
#     make lint format    layers, formatting, shell, text; rewrite the formatting
#     make fuzz RUNS=n    the parsers of foreign bytes by libFuzzer, n runs each
#     make mutants        seeded changes of the code, which tests must notice: SEED=n NUMBER=n
#     make bench          what operations cost, in instructions
#     make install        the images, commands, headers and manual pages: PREFIX=/usr/local DESTDIR=
#     make deb            Debian packages, into build/deb
#     make release        images, packages and a tarball, into build/release; then tag VERSION
#     make disk           build/barecpc.img, a stick and a CD that boots by UEFI on both
#     make sign KEY= CERT= sign the UEFI applications for Secure Boot
#     make gdb            boot and wait for a debugger
#     SAN=ubsan           the kernel alone, into build/ARCH-ubsan: undefined behaviour traps
#     SAN=coverage        the kernel alone, into build/ARCH-coverage: it notes which of its code ran
#     EVENTS=amd          event names of these vendors only, of intel, amd, arm
#     LIBPFM4=none        tables without the descriptions of events that the installed libpfm4 has
#     V=1                 show the commands

ARCHS   := arm64 x86_64
V       ?=
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$(2)')
# Every object is compiled by this recipe.  COMPILE is the command, AFTER what is then done to the object.
define compile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<
	$(if $(AFTER),$(Q)$(AFTER) $@)
endef

# `make run` and `make check` install missing packages before anything below needs a compiler, and say which.
# Other goals only look for them.  It takes 20 ms if nothing is missing.
SETUP := scripts/setup$(if $(filter run check%,$(MAKECMDGOALS)),, --check)
ifeq ($(MAKELEVEL)$(filter clean,$(MAKECMDGOALS)),0)
ifneq ($(shell $(SETUP) >&2 && echo ready),ready)
$(error packages are missing: run scripts/setup)
endif
endif
.DEFAULT_GOAL := all
CACHE := $(shell scripts/setup --cache)
MK    := Makefile $(wildcard */objs.mk */*/objs.mk)
WARN  := -Wall -Wextra -Wshadow -Wmissing-prototypes -Werror
# Remove the names of folders from debug information: packages must be reproducible.
PREFIX_MAP := $(if $(SOURCE_DATE_EPOCH),-ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(CACHE)=cache)
WARN  += $(PREFIX_MAP)

include lib/objs.mk dev/uart/objs.mk cpc/objs.mk events/objs.mk kern/objs.mk

ifeq ($(ARCH),)
# Without ARCH: once for each architecture, also with -j one after the other.  Both take the event tables, as host-tests
# does: this make builds them, so that no two make them at once.
all tests: $(EVENT_FILES)
	$(Q)for a in $(ARCHS); do $(MAKE) --no-print-directory ARCH=$$a $@ || exit; done
tests: all
else ifeq ($(filter $(ARCH),$(ARCHS)),)
$(error ARCH=$(ARCH): known are $(ARCHS))
else
ifneq ($(filter-out ubsan coverage,$(SAN)),)
$(error SAN=$(SAN): known are ubsan and coverage)
endif
B       := build/$(ARCH)$(SAN:%=-%)
DIR     := $(if $(filter x86_64,$(ARCH)),arch/x86,arch/arm64)
CROSS   := $(if $(filter x86_64,$(ARCH)),x86_64-linux-gnu-,aarch64-linux-gnu-)
CC      := $(CROSS)gcc
LD      := $(CROSS)ld
OBJCOPY := $(CROSS)objcopy
NM      := $(CROSS)nm
AR      := $(CROSS)ar
GCC_HEADERS := $(shell $(CC) -print-file-name=include)

all:

# The kernel.  -I$(DIR) is where kern/arch.h finds arch_inline.h.
KCFLAGS := -O2 -g -std=gnu11 $(WARN) -I. -I$(DIR) -Iinclude/kernel -MMD -MP -ffreestanding -nostdinc -isystem \
    $(GCC_HEADERS)
KCFLAGS += -fno-pic -fstack-protector-strong -fno-common -fno-strict-aliasing
KCFLAGS += -fno-omit-frame-pointer        # backtraces walk frame pointers
KCFLAGS += -mgeneral-regs-only            # LWPs' SIMD state is left alone
KCFLAGS += -fno-asynchronous-unwind-tables
# Undefined behaviour is a trap instruction, which ends in a panic (kern/proc/fault.c).
SAN_ubsan    := -fsanitize=undefined -fsanitize-undefined-trap-on-error
# Every basic block calls __sanitizer_cov_trace_pc() (kern/debug/coverage.c).
SAN_coverage := -fsanitize-coverage=trace-pc
# The flat kernel.  On arm64 it is a complete Image; the plain build puts the UEFI application into the Image, too.
FLAT    := $(B)/$(if $(SAN:%=$(filter arm64,$(ARCH))),Image,kernel.bin)
include boot/objs.mk $(DIR)/objs.mk payloads/objs.mk tests/image/objs.mk scripts/probe/objs.mk

# The tables of the vendors in EVENTS.  A file keeps the last build's choice, so that another choice links again.
EVENTS ?= $(if $(filter x86_64,$(ARCH)),intel amd,arm)
ifneq ($(filter-out $(EVENT_VENDORS),$(EVENTS)),)
$(error EVENTS=$(EVENTS): known are $(EVENT_VENDORS))
endif
ifeq ($(filter clean,$(MAKECMDGOALS)),)
$(shell mkdir -p $(B); echo '$(EVENTS)' | cmp -s - $(B)/vendors || echo '$(EVENTS)' >$(B)/vendors)
endif

OBJS := $(addprefix $(B)/,$(BOOT_OBJS) $(ARCH_OBJS) $(KERN_OBJS) $(KERN_EVENT_OBJS) $(DEV_OBJS) $(LIB_OBJS))

# With SAN the programs are those of the plain build.
ifeq ($(SAN),)
ARCHIVE := $(B)/archive.cpio
all: $(addprefix $(B)/,kernel.elf probe libcpc.a glibc/libcpc.a libpayload.a glibc/libpayload.a) $(EFI) $(LINUX)
else
ARCHIVE := build/$(ARCH)/archive.cpio
all: $(FLAT)
$(ARCHIVE): FORCE
	$(Q)$(MAKE) --no-print-directory SAN= ARCH=$(ARCH) $@
FORCE:
endif

$(B)/%.o: COMPILE = $(CC) $(KCFLAGS) $(SAN_$(SAN))
$(B)/%.o: %.c $(MK)
	$(compile)
$(B)/%.o: %.S $(MK)
	$(compile)
$(B)/kern/main.o: VERSION
$(B)/kern/main.o: KCFLAGS += -DVERSION='"$(shell cat VERSION)"'
$(B)/kern/file/archive_data.o: KCFLAGS += -DARCHIVE='"$(ARCHIVE)"'
$(B)/kern/file/archive_data.o: $(ARCHIVE)
# The vDSO runs in programs: one page of code that any address can have (vdso.ld).
VDSO := $(B)/vdso.so
$(VDSO): $(DIR)/vdso/vdso.c $(DIR)/vdso/vdso.ld $(wildcard kern/proc/vdso/*.h) $(MK)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -MMD -MP -g -fno-pic -fstack-protector-strong -mcmodel=kernel,$(KCFLAGS)) \
	    -fPIC -shared -nostdlib -s -Wl,-soname,linux-vdso.so.1 -Wl,--hash-style=both -Wl,--build-id=none \
	    -Wl,-z,max-page-size=4096 -Wl,-T,$(DIR)/vdso/vdso.ld -o $@ $<
$(B)/kern/proc/vdso/vdso_image.o: KCFLAGS += -DVDSO='"$(VDSO)"'
$(B)/kern/proc/vdso/vdso_image.o: $(VDSO)
# gcc would turn the loops of memcpy and memset into calls of themselves.
$(B)/lib/string.o: KCFLAGS += -fno-tree-loop-distribute-patterns

# Two links: the first with an empty symbol table, the second with the table made from the first.  The
# table follows the text, so it does not move the text's addresses.
LDFLAGS := -nostdlib -z noexecstack -z max-page-size=4096 --build-id=none -T $(DIR)/kernel.ld $(LDERRATA)
$(B)/ksyms0.o: scripts/build/mksyms
	@mkdir -p $(@D)
	$(Q)scripts/build/mksyms $(NM) >$(B)/ksyms0.S && $(CC) -c -o $@ $(B)/ksyms0.S
$(B)/kernel.elf: $(OBJS) $(B)/ksyms0.o $(DIR)/kernel.ld
	$(call say,LD,$@)
	$(Q)$(LD) $(LDFLAGS) -o $(B)/kernel0.elf $(OBJS) $(LIBS) $(B)/ksyms0.o
	$(Q)scripts/build/mksyms $(NM) $(B)/kernel0.elf >$(B)/ksyms.S
	$(Q)$(CC) -c -o $(B)/ksyms.o $(B)/ksyms.S
	$(Q)$(LD) $(LDFLAGS) -o $@ $(OBJS) $(LIBS) $(B)/ksyms.o
# arm64's has the header that Linux's loaders know, x86-64's one of our own.
$(FLAT): $(B)/kernel.elf
	$(call say,COPY,$@)
	$(Q)$(OBJCOPY) -O binary $< $@

# Programs are compiled as any payload is, by scripts/barecpc-cc: libcpc, payloads, tests.
# -fPIE: static-PIE programs use these libraries, too.
UCC     := scripts/barecpc-cc --arch $(ARCH)
UCFLAGS := -O2 -g -std=gnu11 $(WARN) -I. -MD -MP -fPIE # -MD: barecpc-cc takes include/ for a folder of the system
$(foreach d,cpc payloads tests,$(B)/$(d)/%.o): COMPILE = $(UCC) $(UCFLAGS)
# Every program has these: without what a debugger reads.
$(B)/user/%.o: COMPILE = $(UCC) $(filter-out -g,$(UCFLAGS))
$(B)/user/%.o: %.c $(MK)
	$(compile)

# For programs of glibc: scripts/barecpc-c++.
$(B)/glibc/%.o: COMPILE = $(CC) $(filter-out -g,$(UCFLAGS)) -isystem include
$(B)/glibc/%.o: %.c $(MK)
	$(compile)
$(B)/glibc/%.o: %.S $(MK)
	$(compile)
$(B)/glibc/libcpc.a: $(addprefix $(B)/glibc/,$(LIBCPC_OBJS) $(CPC_ARCH_OBJS) $(EVENT_LIB))
$(B)/libcpc.a: $(addprefix $(B)/,$(LIBCPC_OBJS) $(CPC_MUSL_OBJS) $(CPC_ARCH_OBJS) $(EVENT_LIB:%=user/%))
$(B)/libprograms.a: $(addprefix $(B)/,$(PROGRAM_OBJS))
$(B)/libtest.a: $(addprefix $(B)/,$(TEST_OBJS))
$(addprefix $(B)/,libcpc.a glibc/libcpc.a libpayload.a glibc/libpayload.a libprograms.a libtest.a):
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

# A program: its objects, then the library of its kind.  scripts/barecpc-cc adds libcpc.a.
PROGRAMS := $(B)/programs $(TESTS:%=$(B)/tests/%)
$(TESTS:%=$(B)/tests/%): $(B)/libtest.a
$(PROGRAMS): $(B)/libcpc.a scripts/barecpc-cc
	$(call say,CCLD,$@)
	@mkdir -p $(@D)
	$(Q)$(UCC) $(LINK) -o $@ $(filter %.o,$^) $(filter %/libprograms.a %/libtest.a,$^) $(PACKED_LIBS)

# An archive: a file named `suite` that lists what to run, the programs, and the image's event tables.
$(B)/archive.cpio: payloads/suite $(PAYLOADS:%=$(B)/bin/%) $(EVENTS:%=build/events/%) $(B)/vendors
$(addprefix $(B)/,archive.cpio tests.cpio basic.cpio pmu.cpio contract.cpio counting.cpio): scripts/mkcpio \
    scripts/host/cpio.py
	$(call say,CPIO,$@)
	$(Q)scripts/mkcpio -o $@ $(patsubst %,--in events %,$(filter build/events/%,$^)) \
	    $(filter-out scripts/% build/events/% $(B)/vendors,$^)

tests: all $(B)/tests.cpio $(B)/basic.cpio $(B)/pmu.cpio $(B)/contract.cpio $(B)/counting.cpio
-include $(shell find $(B) -name '*.d' 2>/dev/null)
endif

include tests/host/objs.mk tests/fuzz/objs.mk tests/objs.mk scripts/package/objs.mk

# Without ARCH: the architecture that can count on this machine.
run:
	$(Q)arch=$(ARCH); arch=$${arch:-$$(scripts/barecpc arch)} && \
	    scripts/barecpc run --arch $$arch --results build/$$arch/results.jsonl
# One disk image for UEFI machines of both architectures, to write to a stick.
disk: all
	$(call say,DISK,build/barecpc.img)
	$(Q)scripts/mkdisk build/barecpc.img
# The images of both names are one file.
sign: all
	$(Q)scripts/sign "$(KEY)" "$(CERT)" build/x86_64/BOOTX64.EFI build/arm64/BOOTAA64.EFI
# tests/cli/costs.md has the table.
bench:
	$(Q)for priv in user system; do \
		echo "At $$priv privilege:" && \
		scripts/barecpc run --arch $(or $(ARCH),arm64) --accel tcg --append priv=$$priv -- opcost || exit; done
gdb:
	$(Q)scripts/barecpc run --arch $(or $(ARCH),arm64) --gdb
lint:
	$(Q)scripts/dev/lint
format:
	$(Q)git ls-files '*.[ch]' | xargs clang-format -i
clean:
	rm -rf build

.PHONY: all tests host-tools host-tests check check-all check-host check-image check-kvm run bench disk gdb lint format
.PHONY: clean sign fuzz fuzz-targets emulator ubsan man install deb release
.DELETE_ON_ERROR:
