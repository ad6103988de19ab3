# payloads/: the programs of the image, by folder, and the files that they share.
BENCHMARKS := spin triad matmul chase example1 example2
TOOLS := stat/stat record/record tools/encode tools/list tools/fits cputrack/cputrack cputrack/cpustat tools/pages \
    board/board pack/pack
PAYLOADS   := $(BENCHMARKS) $(notdir $(TOOLS)) opcost vpmu nb

# libpayload.a, for programs outside of the tree: one object, whose only global names are those of its headers.
PAYLOAD_OBJS := $(addprefix payloads/common/,options.o options_next.o usage.o cpc_error.o meter.o measurement.o \
    read_cost.o report.o report_json.o $(ARCH)/enlightenments.o $(ARCH)/spin.o)
PAYLOAD_OBJS += $(addprefix payloads/common/events/,perf_names.o perf_request.o errata.o errata_here.o)
PAYLOAD_OBJS += $(addprefix payloads/common/results/,runs.o runs_text.o series.o json.o)
PAYLOAD_OBJS += $(addprefix payloads/bench/,kernel.o measure.o main.o)
REGION_OBJS  := $(addprefix payloads/region/,region.o mark.o events.o region_report.o)
$(B)/payload.o: $(addprefix $(B)/,$(PAYLOAD_OBJS) $(REGION_OBJS))
$(B)/glibc/payload.o: $(addprefix $(B)/glibc/,$(PAYLOAD_OBJS) $(REGION_OBJS))
$(B)/payload.o $(B)/glibc/payload.o:
	$(call say,LD,$@)
	$(Q)$(LD) -r -o $@ $^ && $(OBJCOPY) -w --keep-global-symbol='bench_*' --keep-global-symbol='region_*' $@
$(B)/libpayload.a $(B)/glibc/libpayload.a: %/libpayload.a: %/payload.o %/payloads/bench/entry.o

# The same for the image's programs.  A program links only the objects that it uses.
PROGRAM_OBJS := $(PAYLOAD_OBJS) $(addprefix payloads/common/,events/event_lookup.o events/event_table.o target_image.o)
PROGRAM_OBJS += $(addprefix payloads/tools/,child.o out_file.o)
PROGRAM_OBJS += $(addprefix payloads/stat/stat_,print.o events.o run.o rows.o soft.o metric.o record.o)
PROGRAM_OBJS += $(addprefix payloads/record/,symbols.o sample_file.o histogram.o $(ARCH)/call.o)
PROGRAM_OBJS += $(addprefix payloads/cputrack/,event_spec.o cpc_tool.o)
PROGRAM_OBJS += $(addprefix payloads/board/,board_hide.o $(ARCH)/cpu_leaves.o $(ARCH)/board_fdt.o)
PROGRAM_OBJS += $(addprefix payloads/pack/,blocks.o fold.o)
PROGRAM_OBJS += $(addprefix tests/opcost/,switch.o signal.o overflow.o flatness.o assign.o $(ARCH)/clock.o)

# vpmu's objects are linked as they are: libprograms.a holds one object of a name.
VPMU_OBJS_x86_64 := x86_64/trapped.o x86_64/msr.o x86_64/fixed.o
VPMU_OBJS_arm64  := arm64/raw.o
VPMU_OBJS := $(addprefix payloads/vpmu/,vpmu.o report.o measure.o count.o range.o overflow.o lwp.o event.o model.o \
    steady.o believe.o $(ARCH)/arch.o $(ARCH)/registers.o $(ARCH)/loops.o $(VPMU_OBJS_$(ARCH)))

NB_OBJS := $(addprefix payloads/nb/,nb.o config.o generate.o registers.o pass.o cycles.o print.o \
    $(ARCH)/emit.o $(ARCH)/enter.o $(ARCH)/msr.o)

# No SIMD register in a measured window: docs/vpmu.md, "A KVM inside emulation".
$(B)/payloads/common/meter.o $(B)/glibc/payloads/common/meter.o: UCFLAGS += -mgeneral-regs-only

# The standard error has the same digits everywhere: `pack` leaves it out, and the host computes it again.
$(B)/payloads/common/results/series.o $(B)/glibc/payloads/common/results/series.o: UCFLAGS += -ffp-contract=off

# The programs are one file (payloads/programs.c).  Each has its main() under another name.
MAIN_OBJS := $(addprefix $(B)/payloads/,$(BENCHMARKS:%=benchmarks/%.o) $(TOOLS:%=%.o) vpmu/vpmu.o nb/nb.o) \
    $(B)/tests/opcost/opcost.o
$(MAIN_OBJS): AFTER = $(OBJCOPY) --redefine-sym main=$(*F)_main
$(B)/payloads/programs.o: UCFLAGS += -DPROGRAMS='${PAYLOADS:%=X(%)}'
$(B)/programs: $(B)/payloads/programs.o $(MAIN_OBJS) $(addprefix $(B)/,$(VPMU_OBJS) $(NB_OBJS)) \
    $(B)/user/kern/cpc/assign.o $(B)/payloads/tools/checked.o $(B)/user/kern/platform/results/kept.o
# Static libraries of packages for this architecture; the headers are the same for each.
PACKED := $(if $(filter x86_64,$(ARCH)),amd64,arm64)
PACKED_LIB = $(wildcard $(CACHE)/$(1)-dev-$(PACKED)/usr/lib/*/$(2))
$(B)/programs: PACKED_LIBS := $(call PACKED_LIB,libqrcodegen,libqrcodegen.a) $(call PACKED_LIB,zlib1g,libz.a) \
    $(call PACKED_LIB,libfdt,libfdt.a)
$(B)/payloads/tools/pages.o: UCFLAGS += -D_GNU_SOURCE -isystem $(CACHE)/libqrcodegen-dev-$(PACKED)/usr/include \
    -isystem $(CACHE)/zlib1g-dev-$(PACKED)/usr/include
$(B)/payloads/board/arm64/board_fdt.o: UCFLAGS += -isystem $(CACHE)/libfdt-dev-$(PACKED)/usr/include
$(B)/payloads/board/board.o $(B)/payloads/pack/blocks.o: UCFLAGS += -isystem $(CACHE)/zlib1g-dev-$(PACKED)/usr/include
$(B)/programs: $(B)/libprograms.a
# A small stack: to zero one of 8 MiB takes a tenth of an empty run.
$(B)/programs: LINK += -Wl,-z,stack-size=131072
# Hard links of the file without what a debugger reads.
$(PAYLOADS:%=$(B)/bin/%) &: $(B)/programs
	$(call say,STRIP,$(B)/bin)
	@mkdir -p $(@D)
	$(Q)$(OBJCOPY) --strip-debug $< $(B)/bin/$(firstword $(PAYLOADS)).new
	$(Q)for p in $(PAYLOADS); do ln -f $(B)/bin/$(firstword $(PAYLOADS)).new $(B)/bin/$$p; done
	$(Q)rm $(B)/bin/$(firstword $(PAYLOADS)).new
