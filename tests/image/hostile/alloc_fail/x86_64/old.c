/* Old system calls of x86-64 that newer ones replace. */
#include "tests/image/hostile/alloc_fail/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static char archive[] = "alloc_fail", tmp[] = "/tmp/turn",
	    moved[] = "/tmp/moved";
static struct timeval none;
static struct pollfd fds[] = { { .fd = TURN_READ, .events = POLLIN } };

static long
make_fork(void)
{
	return turn_forked(turn_raw(SYS_fork, 0, 0, 0, 0, 0));
}

/* The child has this memory, so it ends before it could return from here. */
static long
make_vfork(void)
{
	long r;

	__asm__ volatile("syscall; test %0, %0; jnz 1f; xor %%edi, %%edi;"
			 " mov %2, %%eax; syscall; 1:"
			 : "=a"(r)
			 : "0"(SYS_vfork), "i"(SYS_exit)
			 : "rcx", "r11", "rdi", "memory");
	return r;
}

static void
make_tmp(void)
{
	close(open(tmp, O_WRONLY | O_CREAT, 0600));
}

static void
make_tmp_dir(void)
{
	mkdir(tmp, 0700);
}

static void
remove_tmp(long r)
{
	(void)r;
	unlink(tmp);
	unlink(moved);
	rmdir(tmp);
}

static void
close_tmp(long r)
{
	turn_close(r);
	unlink(tmp);
}

const struct turn_call turn_old[] = {
	TURN_CALL("epoll_create", SYS_epoll_create, (1), .tc_undo = turn_close,
	    .tc_least = 2),
	TURN_CALL("epoll_wait", SYS_epoll_wait, (TURN_READ, TURN_P, 1, 0),
	    .tc_errno = EINVAL),
	TURN_CALL(
	    "eventfd", SYS_eventfd, (1), .tc_undo = turn_close, .tc_least = 1),
	TURN_CALL("getpgrp", SYS_getpgrp, (0)),
	TURN_CALL("mknod", SYS_mknod, ((uintptr_t)tmp, 0100600),
	    .tc_undo = remove_tmp, .tc_least = 2),
	TURN_CALL("mkdir", SYS_mkdir, ((uintptr_t)tmp, 0700),
	    .tc_undo = remove_tmp, .tc_least = 2),
	TURN_CALL(
	    "rmdir", SYS_rmdir, ((uintptr_t)tmp), .tc_prepare = make_tmp_dir),
	TURN_CALL(
	    "unlink", SYS_unlink, ((uintptr_t)tmp), .tc_prepare = make_tmp),
	TURN_CALL("rename", SYS_rename, ((uintptr_t)tmp, (uintptr_t)moved),
	    .tc_prepare = make_tmp, .tc_undo = remove_tmp, .tc_least = 1),
	TURN_CALL("symlink", SYS_symlink, ((uintptr_t)archive, (uintptr_t)tmp),
	    .tc_undo = remove_tmp, .tc_least = 2),
	TURN_CALL("link", SYS_link, ((uintptr_t)tmp, (uintptr_t)moved),
	    .tc_prepare = make_tmp, .tc_undo = remove_tmp, .tc_least = 1),
	TURN_CALL("chmod", SYS_chmod, ((uintptr_t)tmp, 0600),
	    .tc_prepare = make_tmp, .tc_undo = remove_tmp),
	TURN_CALL("chown", SYS_chown, ((uintptr_t)tmp, 0, 0),
	    .tc_prepare = make_tmp, .tc_undo = remove_tmp),
	TURN_CALL("lchown", SYS_lchown, ((uintptr_t)tmp, 0, 0),
	    .tc_prepare = make_tmp, .tc_undo = remove_tmp),
	TURN_CALL("creat", SYS_creat, ((uintptr_t)tmp, 0600),
	    .tc_undo = close_tmp, .tc_least = 3),
	TURN_CALL("select", SYS_select, (0, 0, 0, 0, (uintptr_t)&none)),
	TURN_CALL("open", SYS_open, ((uintptr_t)archive, O_RDONLY),
	    .tc_undo = turn_close, .tc_least = 1),
	TURN_CALL("stat", SYS_stat, ((uintptr_t)archive, TURN_P)),
	TURN_CALL("lstat", SYS_lstat, ((uintptr_t)archive, TURN_P)),
	TURN_CALL("access", SYS_access, ((uintptr_t)archive, R_OK)),
	TURN_CALL("readlink", SYS_readlink, ((uintptr_t)archive, TURN_P, 64),
	    .tc_errno = EINVAL),
	TURN_CALL(
	    "dup2", SYS_dup2, (TURN_ZERO, TURN_FREE), .tc_undo = turn_close),
	TURN_CALL("pipe", SYS_pipe, (TURN_P), .tc_undo = turn_close_both,
	    .tc_least = 3),
	TURN_CALL("poll", SYS_poll, ((uintptr_t)fds, 1, 0)),
	TURN_CALL("time", SYS_time, (TURN_P)),
	TURN_CALL("alarm", SYS_alarm, (0)),
	TURN_CALL("pause", SYS_pause, (0), .tc_prepare = turn_alarm_soon,
	    .tc_undo = turn_no_alarm, .tc_errno = EINTR),
	TURN_MADE("fork", SYS_fork, NULL, make_fork, turn_reap, .tc_least = 20),
	TURN_MADE(
	    "vfork", SYS_vfork, NULL, make_vfork, turn_reap, .tc_least = 4),
	{ 0 },
};
