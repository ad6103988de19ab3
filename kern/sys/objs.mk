# kern/sys/: one file for each group of system calls.
KERN_OBJS += $(addprefix kern/sys/,syscall.o file.o fd.o stat.o path.o user_path.o proc_files.o poll.o epoll.o \
    event.o timerfd.o signalfd.o mem.o proc.o group.o control.o exec.o wait.o usage.o sched.o signal.o time.o itimer.o info.o limit.o screen.o progress.o \
    test_hooks.o)
KERN_OBJS += kern/sys/$(if $(filter coverage,$(SAN)),coverage.o,no_coverage.o)
