/*
 * POSIX threads under their Solaris and illumos names.  Included by programs.
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

/*
 * Flags of thr_create().  Every thread is an LWP of its own, so THR_BOUND and
 * THR_NEW_LWP change nothing.
 */
#define THR_BOUND    0x00000001
#define THR_NEW_LWP  0x00000002
#define THR_DETACHED 0x00000040
#define THR_DAEMON   0x00000100

/*
 * Run fn(arg) in a new LWP.  *id becomes its id, unless id is NULL.  stack and
 * bytes are memory for its stack; NULL and a size; or NULL and 0.  Returns 0
 * or an errno: EINVAL if the stack is too small or flags has an unknown bit,
 * EAGAIN, ENOMEM.  thr_create(3C).
 */
int thr_create(void *stack, size_t bytes, void *(*fn)(void *), void *arg,
    long flags, thread_t *id);
/*
 * Wait until a thread of thr_create() ends; id 0: the next one that ends.
 * Returns 0, ESRCH if there is no such thread that is not detached, or EDEADLK
 * for the caller's own id.  thr_join(3C).
 */
int thr_join(thread_t id, thread_t *departed, void **status);
void thr_exit(void *status) __attribute__((noreturn));
thread_t thr_self(void);
void thr_yield(void);

#ifdef __cplusplus
}
#endif

#endif /* BARECPC_THREAD_H */
