/*
 * The program that runs, for the host to read.  Included by kern/launch.c and
 * kern/sys/.
 */
#ifndef KERN_SYS_PROGRESS_H
#define KERN_SYS_PROGRESS_H

#include <stdint.h>

/* A program, or a line of joined programs, starts. */
void progress_program(const char *name);

/* The system call progress(done, total) of <sys/barecpc.h>. */
intptr_t sys_progress(const uintptr_t *a);

#endif /* KERN_SYS_PROGRESS_H */
