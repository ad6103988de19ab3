/*
 * Threads, as Solaris and illumos name them: those of <pthread.h> under
 * other names.  Included by programs.
 */
#ifndef BARECPC_THREAD_H
#define BARECPC_THREAD_H

#include <pthread.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef pthread_t thread_t;
typedef pthread_key_t thread_key_t;

/* flags of thr_create(); a thread is an LWP, so that two of them say nothing */
#define THR_BOUND    0x00000001
#define THR_NEW_LWP  0x00000002
#define THR_DETACHED 0x00000040
#define THR_DAEMON   0x00000100

/*
 * Start fn(arg) in a new LWP; its name in *id unless that is NULL.  stack
 * and bytes: NULL and 0, or memory to use, or a size alone.  0 or an errno:
 * EINVAL for a stack too small and for THR_SUSPENDED, EAGAIN.
 */
int thr_create(void *stack, size_t bytes, void *(*fn)(void *), void *arg,
    long flags, thread_t *id);
/* Wait for the thread: 0, ESRCH, EDEADLK.  A thread must be named. */
int thr_join(thread_t id, thread_t *departed, void **status);
_Noreturn void thr_exit(void *status);
thread_t thr_self(void);
void thr_yield(void);

#ifdef __cplusplus
}
#endif

#endif /* BARECPC_THREAD_H */
