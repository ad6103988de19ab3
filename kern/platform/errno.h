/*
 * Error numbers of Linux, which are the same on every machine.  Included by
 * kern/ and arch/; <errno.h> of the C library has the same values.
 */
#pragma once

#define EPERM        1
#define ENOENT       2
#define ESRCH        3
#define EINTR        4
#define EIO          5
#define ENXIO        6
#define E2BIG        7
#define ENOEXEC      8
#define EBADF        9
#define ECHILD       10
#define EAGAIN       11
#define ENOMEM       12
#define EACCES       13
#define EFAULT       14
#define EBUSY        16
#define EEXIST       17
#define EXDEV        18
#define ENODEV       19
#define ENOTDIR      20
#define EISDIR       21
#define EINVAL       22
#define EMFILE       24
#define ENOTTY       25
#define EFBIG        27
#define ENOSPC       28
#define ESPIPE       29
#define EROFS        30
#define EPIPE        32
#define ERANGE       34
#define EDEADLK      35
#define ENAMETOOLONG 36
#define ENOSYS       38
#define ENOTEMPTY    39
#define ELOOP        40
#define ENOTSOCK     88
#define ENOTSUP      95
#define EAFNOSUPPORT 97
#define ETIMEDOUT    110
#define ESTALE       116
#define ECANCELED    125

/* Never seen by a program: the system call has set its registers itself. */
#define EJUSTRETURN 513
