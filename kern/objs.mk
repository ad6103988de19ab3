# kern/: processes, LWPs, system calls, kcpc.  Lower folders first; the root is above all.
KERN_OBJS := $(addprefix kern/,main.o machine.o firmware.o launch.o quiet.o)
include $(foreach d,platform mm sched file proc cpc sys debug,kern/$(d)/objs.mk)
