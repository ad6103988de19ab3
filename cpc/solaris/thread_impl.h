/*
 * Threads that thr_create() made.  Included by thread.c and suspend.c.
 */
#ifndef CPC_SOLARIS_THREAD_IMPL_H
#define CPC_SOLARIS_THREAD_IMPL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <thread.h>

struct thr {
	thread_t th_id;
	void *(*th_fn)(void *);
	void *th_arg;
	struct thr *th_next;
	bool th_detached, th_ended;
	volatile bool th_suspended;
	sem_t th_stopped;  /* posted once the thread has stopped */
	sem_t th_continue; /* ends its wait */
};

/* Guards the list of threads and their flags. */
extern pthread_mutex_t thr_lock;
/* The thread with this id, or NULL.  The caller holds thr_lock. */
struct thr *thr_find(thread_t id);
/* The caller's, or NULL if thr_create() did not make it. */
struct thr *thr_own(void);
/* Install the signal handler in which a thread is suspended. */
void thr_suspend_init(void);
/* Wait until t is no longer suspended. */
void thr_stay_suspended(struct thr *t);

#endif /* CPC_SOLARIS_THREAD_IMPL_H */
