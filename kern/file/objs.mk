# kern/file/: the archives, open files, pipes.
KERN_OBJS += $(addprefix kern/file/,archive.o archive_data.o cpio.o file.o pipe.o)
