# cpc/: libcpc, from its handle to a sample; libpctx.
CPC_OBJS := $(addprefix cpc/,handle.o machine.o object.o error.o event.o request.o set.o buf.o bind.o sample.o \
    core_type.o pctx/pctx.o)
CPC_OBJS += $(addprefix cpc/v1/,machine.o word.o event.o spec.o bind.o shared.o pctx.o)
# Functions that programs of Solaris use around it.
LIBCPC_OBJS := $(CPC_OBJS) cpc/pctx/pctx_run.o
LIBCPC_OBJS += $(addprefix cpc/solaris/,thread.o synch.o processor.o priocntl.o pset.o sysconf.o \
    systeminfo.o kstat.o illumos.o)
# Functions that musl lacks and glibc has.
CPC_MUSL_OBJS := $(addprefix cpc/musl/,getsubopt.o find_object.o)
# The system call and the direct read of the PICs, which each architecture has its own of.
CPC_ARCH_OBJS = $(addprefix cpc/$(if $(filter arm64,$(ARCH)),arm64,x86)/,door.o read.o)
