# kern/debug/: what tests ask the kernel for.
KERN_OBJS += $(addprefix kern/debug/,limit.o test_hooks.o $(if $(filter coverage,$(SAN)),coverage.o))
