/*
 * thr_suspend(3C) and thr_continue(3C).  A suspended thread waits in the
 * handler of a signal that is kept for this.
 */
#include <thread.h>

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "cpc/solaris/thread_impl.h"

#define SUSPEND_SIGNAL SIGRTMAX

void
thr_stay_suspended(struct thr *t)
{
	while (t->th_suspended)
		sem_wait(&t->th_continue);
}

static void
suspend_handler(int sig)
{
	struct thr *t = thr_own();
	int saved = errno;

	(void)sig;
	if (t == NULL)
		return;
	sem_post(&t->th_stopped);
	thr_stay_suspended(t);
	errno = saved;
}

void
thr_suspend_init(void)
{
	struct sigaction sa = { .sa_handler = suspend_handler,
		.sa_flags = SA_RESTART };

	sigfillset(&sa.sa_mask);
	sigaction(SUSPEND_SIGNAL, &sa, NULL);
}

static int
stop_other(thread_t id)
{
	struct thr *t;
	int err = ESRCH;

	pthread_mutex_lock(&thr_lock);
	t = thr_find(id);
	if (t != NULL && !t->th_ended) {
		err = 0;
		if (!t->th_suspended) {
			t->th_suspended = true;
			pthread_kill(t->th_id, SUSPEND_SIGNAL);
			while (sem_wait(&t->th_stopped) == -1)
				;
		}
	}
	pthread_mutex_unlock(&thr_lock);
	return err;
}

int
thr_suspend(thread_t id)
{
	struct thr *self = thr_own();

	if (self == NULL || !pthread_equal(self->th_id, id))
		return stop_other(id);
	self->th_suspended = true;
	thr_stay_suspended(self);
	return 0;
}

int
thr_continue(thread_t id)
{
	struct thr *t;

	pthread_mutex_lock(&thr_lock);
	t = thr_find(id);
	if (t != NULL && t->th_suspended) {
		t->th_suspended = false;
		sem_post(&t->th_continue);
	}
	pthread_mutex_unlock(&thr_lock);
	return t != NULL ? 0 : ESRCH;
}
