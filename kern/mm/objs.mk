# kern/mm/: pages, the heap, address spaces, copies from and to programs.
KERN_OBJS += $(addprefix kern/mm/,page.o kmalloc.o region.o as.o populate.o as_fork.o shared_memory.o usercopy.o \
    kstack.o)
