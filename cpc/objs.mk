# cpc/: libcpc, from its handle to a sample.
CPC_OBJS := $(addprefix cpc/,handle.o machine.o object.o error.o event.o request.o set.o buf.o bind.o sample.o \
    thread.o illumos.o $(addprefix v1/,machine.o word.o event.o spec.o bind.o shared.o))
# The system call and the direct read of the PICs, which each architecture has its own of.
CPC_ARCH_OBJS = $(addprefix cpc/$(if $(filter arm64,$(ARCH)),arm64,x86)/,door.o read.o)
