# kern/proc/: processes, LWPs, programs, signals.
KERN_OBJS += $(addprefix kern/proc/,proc.o proc_tree.o lwp.o id_hash.o elf.o exec.o fork.o usage.o fault.o signal.o \
    signal_deliver.o deadline.o)
KERN_OBJS += $(addprefix kern/proc/futex/,futex.o futex_owner.o)
KERN_OBJS += $(addprefix kern/proc/control/,stop_point.o control.o)
KERN_OBJS += $(addprefix kern/proc/vdso/,vdso.o vdso_image.o)
