# kern/cpc/: kcpc.  A request is taken in by op_bind.o and reaches the PICs by context.o, assign.o and start_stop.o.
KCPC_OBJS := $(addprefix kern/cpc/,syscall.o op_bind.o context.o assign.o refuse.o lwp_ops.o start_stop.o \
    cpu_ops.o owner.o target.o $(addprefix init/,init.o proof.o crosstalk.o) test/witness.o \
    $(addprefix profile/,profile.o program.o usage.o))
# Counter pages, and the PMU in software.
KCPC_PAGE_OBJS := kern/cpc/counter_page.o
SOFT_PMU_OBJS := $(addprefix kern/cpc/soft/,soft_shape.o soft_model.o soft_configure.o soft_pcbe.o)
KERN_OBJS += kern/cpc/init/register.o $(KCPC_OBJS) $(KCPC_PAGE_OBJS) $(SOFT_PMU_OBJS)
