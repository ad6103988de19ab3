# payloads/: the programs of the image, by folder, and the files that they share.
BENCHMARKS := spin triad matmul chase example1 example2
TOOLS      := stat record encode list fits cputrack cpustat pages board
PAYLOADS   := $(BENCHMARKS) $(TOOLS) opcost vpmu nb

# libpayload.a, for programs outside of the tree: one object, whose only global names are those of its headers.
PAYLOAD_OBJS := $(addprefix payloads/common/,options.o options_next.o usage.o cpc_error.o perf_names.o perf_request.o \
    meter.o measurement.o read_cost.o runs.o runs_text.o series.o report.o report_json.o json.o)
PAYLOAD_OBJS += $(addprefix payloads/bench/,kernel.o measure.o main.o)
REGION_OBJS  := $(addprefix payloads/region/,region.o mark.o events.o region_report.o)
$(B)/payload.o: $(addprefix $(B)/,$(PAYLOAD_OBJS) $(REGION_OBJS))
$(B)/glibc/payload.o: $(addprefix $(B)/glibc/,$(PAYLOAD_OBJS) $(REGION_OBJS))
$(B)/payload.o $(B)/glibc/payload.o:
	$(call say,LD,$@)
	$(Q)$(LD) -r -o $@ $^ && $(OBJCOPY) -w --keep-global-symbol='bench_*' --keep-global-symbol='region_*' $@
$(B)/libpayload.a $(B)/glibc/libpayload.a: %/libpayload.a: %/payload.o %/payloads/bench/entry.o

# The same for the image's programs.  A program links only the objects that it uses.
PROGRAM_OBJS := $(PAYLOAD_OBJS) $(addprefix payloads/common/,event_lookup.o event_table.o target_image.o $(ARCH)/spin.o)
PROGRAM_OBJS += $(addprefix payloads/tools/,child.o symbols.o $(ARCH)/call.o $(ARCH)/cpu_leaves.o sample_file.o \
    histogram.o stat_print.o stat_events.o stat_run.o stat_rows.o stat_soft.o stat_metric.o stat_record.o event_spec.o \
    cpc_tool.o out_file.o board_hide.o $(ARCH)/board_fdt.o)
PROGRAM_OBJS += $(addprefix payloads/opcost/,switch.o signal.o overflow.o flatness.o assign.o $(ARCH)/clock.o)

# vpmu's objects are linked as they are: libprograms.a holds one object of a name.
VPMU_OBJS_x86_64 := x86_64/trapped.o x86_64/msr.o x86_64/fixed.o
VPMU_OBJS_arm64  := arm64/raw.o
VPMU_OBJS := $(addprefix payloads/vpmu/,vpmu.o report.o measure.o count.o range.o overflow.o lwp.o event.o \
    $(ARCH)/arch.o $(ARCH)/registers.o $(VPMU_OBJS_$(ARCH)))

NB_OBJS := $(addprefix payloads/nb/,nb.o config.o generate.o registers.o pass.o cycles.o print.o \
    $(ARCH)/emit.o $(ARCH)/enter.o $(ARCH)/msr.o)

# No SIMD register in a measured window: docs/kvm.md, "A KVM inside emulation".
$(B)/payloads/common/meter.o $(B)/glibc/payloads/common/meter.o: UCFLAGS += -mgeneral-regs-only

# The programs are one file (payloads/programs.c).  Each has its main() under another name.
MAIN_OBJS := $(addprefix $(B)/payloads/,$(BENCHMARKS:%=benchmarks/%.o) $(TOOLS:%=tools/%.o) opcost/opcost.o \
    vpmu/vpmu.o nb/nb.o)
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
$(B)/payloads/tools/arm64/board_fdt.o: UCFLAGS += -isystem $(CACHE)/libfdt-dev-$(PACKED)/usr/include
$(B)/payloads/tools/board.o: UCFLAGS += -isystem $(CACHE)/zlib1g-dev-$(PACKED)/usr/include
$(B)/programs: $(B)/libprograms.a
# Hard links of the file without what a debugger reads.
$(PAYLOADS:%=$(B)/bin/%) &: $(B)/programs
	$(call say,STRIP,$(B)/bin)
	@mkdir -p $(@D)
	$(Q)$(OBJCOPY) --strip-debug $< $(B)/bin/$(firstword $(PAYLOADS)).new
	$(Q)for p in $(PAYLOADS); do ln -f $(B)/bin/$(firstword $(PAYLOADS)).new $(B)/bin/$$p; done
	$(Q)rm $(B)/bin/$(firstword $(PAYLOADS)).new
