# kern/sys/: a file for each group of system calls; file/ has those of files, linux/ those of Linux's own.
KERN_OBJS += $(addprefix kern/sys/,syscall.o mem.o proc.o control.o exec.o wait.o usage.o sched.o signal.o time.o \
    info.o screen.o progress.o)
KERN_OBJS += $(addprefix kern/sys/file/,file.o fd.o stat.o path.o user_path.o old.o proc_files.o poll.o)
KERN_OBJS += $(addprefix kern/sys/linux/,epoll.o event.o timerfd.o signalfd.o group.o itimer.o \
    perf_event.o perf_output.o)
