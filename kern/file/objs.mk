# kern/file/: the archives, open files, directories, /tmp, pipes, epoll, timers.
KERN_OBJS += $(addprefix kern/file/,archive.o archive_data.o cpio.o lookup.o file.o dir.o tmp.o pipe.o epoll.o \
    timer_file.o)
