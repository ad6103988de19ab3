# kern/proc/: processes, LWPs, programs, signals.
KERN_OBJS += $(addprefix kern/proc/,proc.o proc_tree.o lwp.o id_hash.o elf.o exec.o vdso.o vdso/vdso_image.o \
    fork.o usage.o futex.o futex_owner.o stop_point.o control.o fault.o signal.o signal_deliver.o)
