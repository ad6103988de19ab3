# payloads/: the programs of the image, by folder, and what they share.
BENCHMARKS := spin triad matmul chase example1 example2
TOOLS      := stat record encode list fits
PAYLOADS   := $(BENCHMARKS) $(TOOLS) opcost

# In libpayload.a.  A program takes from it what it names.
PAYLOAD_OBJS := $(addprefix payloads/common/,options.o options_next.o usage.o cpc_error.o perf_names.o perf_request.o \
    event_lookup.o meter.o measure.o report.o report_json.o json.o $(ARCH)/spin.o)
PAYLOAD_OBJS += $(addprefix payloads/tools/,child.o symbols.o sample_file.o histogram.o stat_print.o)
PAYLOAD_OBJS += $(addprefix payloads/opcost/,switch.o signal.o overflow.o flatness.o assign.o $(ARCH)/clock.o)

# The tables of events.
NAMES_OBJS := $(addprefix payloads/common/,event_table.o names_image.o)
LIST_OBJS  := payloads/common/own_here.o
FITS_OBJS  := payloads/common/fits_here.o user/kern/cpc/assign.o

$(BENCHMARKS:%=$(B)/bin/%): $(B)/bin/%: $(B)/payloads/benchmarks/%.o
$(TOOLS:%=$(B)/bin/%): $(B)/bin/%: $(B)/payloads/tools/%.o
$(B)/bin/opcost: $(B)/payloads/opcost/opcost.o
$(addprefix $(B)/bin/,encode list fits): $(addprefix $(B)/,$(NAMES_OBJS))
$(B)/bin/list: $(addprefix $(B)/,$(LIST_OBJS))
$(B)/bin/fits: $(addprefix $(B)/,$(FITS_OBJS))
