# kern/cpc/: kcpc.  A request is taken in by bind_call.o and reaches the PICs by bind.o, assign.o and start_stop.o.
KCPC_OBJS := $(addprefix kern/cpc/,init.o proof.o syscall.o bind_call.o bind.o assign.o refuse.o context.o \
    start_stop.o instance.o inherit.o cpu_set.o shared.o core_type.o crosstalk.o target.o event_names.o witness.o \
    $(addprefix profile/,profile.o program.o usage.o))
# Counter pages, and the PMU in software.
KCPC_PAGE_OBJS := kern/cpc/counter_page.o
SOFT_PMU_OBJS := $(addprefix kern/cpc/soft/,soft_shape.o soft_model.o soft_configure.o soft_pcbe.o)
KERN_OBJS += kern/cpc/register.o $(KCPC_OBJS) $(KCPC_PAGE_OBJS) $(SOFT_PMU_OBJS)
