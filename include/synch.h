/*
 * Mutexes, condition variables, readers-writer locks and semaphores under their
 * Solaris and illumos names.  Included by programs.  They are those of POSIX
 * threads.  Every function returns 0 or an errno.
 */
#ifndef BARECPC_SYNCH_H
#define BARECPC_SYNCH_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef pthread_mutex_t mutex_t;
typedef pthread_cond_t cond_t;
typedef pthread_rwlock_t rwlock_t;
typedef sem_t sema_t;

/*
 * Types.  USYNC_PROCESS is for objects in MAP_SHARED memory, which processes
 * share after fork(2).
 */
#define USYNC_THREAD    0
#define USYNC_PROCESS   1
#define LOCK_NORMAL     0
#define LOCK_ERRORCHECK 2
#define LOCK_RECURSIVE  4
#define LOCK_ROBUST     0x40
/* The older name. */
#define USYNC_PROCESS_ROBUST (USYNC_PROCESS | LOCK_ROBUST)

#define DEFAULTMUTEX  PTHREAD_MUTEX_INITIALIZER
#define DEFAULTCV     PTHREAD_COND_INITIALIZER
#define DEFAULTRWLOCK PTHREAD_RWLOCK_INITIALIZER

/*
 * mutex_init(3C).  type: USYNC_THREAD or USYNC_PROCESS, with LOCK_* added.
 *
 * If the owner of a LOCK_ROBUST mutex ends, the next owner's lock returns
 * EOWNERDEAD.  That owner repairs the data and calls mutex_consistent() before
 * it unlocks.  Without that call, every later lock returns ENOTRECOVERABLE.
 *
 * mutex_init() of a robust mutex needs memory of zeros.  A second call keeps
 * the mutex and returns EBUSY.
 */
int mutex_init(mutex_t *m, int type, void *arg);
int mutex_destroy(mutex_t *m);
int mutex_lock(mutex_t *m);
int mutex_trylock(mutex_t *m); /* EBUSY */
int mutex_unlock(mutex_t *m);
/* EINVAL if the mutex is not robust, or its last owner did not end. */
int mutex_consistent(mutex_t *m);

/*
 * cond_init(3C).  The two with a time return ETIME when it is over.  type, here
 * and below: USYNC_THREAD or USYNC_PROCESS, else EINVAL.
 */
int cond_init(cond_t *c, int type, void *arg);
int cond_destroy(cond_t *c);
int cond_wait(cond_t *c, mutex_t *m);
int cond_timedwait(cond_t *c, mutex_t *m, const timestruc_t *until);
int cond_reltimedwait(cond_t *c, mutex_t *m, const timestruc_t *time);
int cond_signal(cond_t *c);
int cond_broadcast(cond_t *c);

/* rwlock(3C).  EBUSY of the two tries. */
int rwlock_init(rwlock_t *l, int type, void *arg);
int rwlock_destroy(rwlock_t *l);
int rw_rdlock(rwlock_t *l);
int rw_wrlock(rwlock_t *l);
int rw_tryrdlock(rwlock_t *l);
int rw_trywrlock(rwlock_t *l);
int rw_unlock(rwlock_t *l);

/* semaphore(3C).  sema_trywait() returns EBUSY if the count is 0. */
int sema_init(sema_t *s, unsigned count, int type, void *arg);
int sema_destroy(sema_t *s);
int sema_wait(sema_t *s);
int sema_trywait(sema_t *s);
int sema_post(sema_t *s);

#ifdef __cplusplus
}
#endif

#endif /* BARECPC_SYNCH_H */
