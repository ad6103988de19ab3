# kern/sched/: CPUs, cross-calls, timers, the scheduler, wait queues.
KERN_OBJS += $(addprefix kern/sched/,cpu.o xcall.o timer.o sched.o turn.o lowest.o placement.o waitq.o)
