/*
 * Threads under their Solaris names: <thread.h>.  They are POSIX threads.  The
 * list holds those that thr_create() made and that were not joined yet.
 */
#include <thread.h>

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

struct thr {
	thread_t th_id;
	void *(*th_fn)(void *);
	void *th_arg;
	struct thr *th_next;
	bool th_detached, th_ended;
};

/* Guards the list and the flags of its threads. */
static pthread_mutex_t thr_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t self_key;
static struct thr *threads;

static void
remove_thread(const struct thr *t)
{
	struct thr **at = &threads;

	while (*at != t)
		at = &(*at)->th_next;
	*at = t->th_next;
}

/* The key's destructor: the thread ends. */
static void
thread_ends(void *arg)
{
	struct thr *t = arg;

	pthread_mutex_lock(&thr_lock);
	t->th_ended = true;
	if (t->th_detached) {
		remove_thread(t);
		free(t);
	}
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&thr_lock);
}

static void
init_once(void)
{
	pthread_key_create(&self_key, thread_ends);
}

/* The caller's, or NULL if thr_create() did not make it. */
static struct thr *
thr_own(void)
{
	pthread_once(&once, init_once);
	return pthread_getspecific(self_key);
}

static void *
thread_main(void *arg)
{
	struct thr *t = arg;

	/* The creator holds the lock until the thread is in the list. */
	pthread_mutex_lock(&thr_lock);
	pthread_mutex_unlock(&thr_lock);
	pthread_setspecific(self_key, t);
	return t->th_fn(t->th_arg);
}

static int
set_stack(pthread_attr_t *attr, void *stack, size_t bytes)
{
	if (stack != NULL)
		return pthread_attr_setstack(attr, stack, bytes);
	return bytes != 0 ? pthread_attr_setstacksize(attr, bytes) : 0;
}

static int
start_thread(struct thr *t, void *stack, size_t bytes)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	int err = set_stack(&attr, stack, bytes);
	if (err == 0 && t->th_detached)
		err =
		    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (err == 0)
		err = pthread_create(&t->th_id, &attr, thread_main, t);
	pthread_attr_destroy(&attr);
	return err;
}

int
thr_create(void *stack, size_t bytes, void *(*fn)(void *), void *arg,
    long flags, thread_t *id)
{
	struct thr *t;
	int err;

	if (flags & ~(THR_BOUND | THR_NEW_LWP | THR_DETACHED | THR_DAEMON))
		return EINVAL;
	pthread_once(&once, init_once);
	if ((t = calloc(1, sizeof *t)) == NULL)
		return ENOMEM;
	t->th_fn = fn;
	t->th_arg = arg;
	t->th_detached = (flags & (THR_DETACHED | THR_DAEMON)) != 0;
	pthread_mutex_lock(&thr_lock);
	if ((err = start_thread(t, stack, bytes)) == 0) {
		t->th_next = threads;
		threads = t;
		if (id != NULL)
			*id = t->th_id;
	}
	pthread_mutex_unlock(&thr_lock);
	if (err != 0)
		free(t);
	return err;
}

/*
 * Wait until the thread to join ends, id 0: any, and take it out of the list.
 * Until then it stays there for other callers.  Returns NULL if there is no
 * such thread.
 */
static struct thr *
take_joinable(thread_t id)
{
	struct thr *t, *self = thr_own();
	bool may_wait;

	for (;;) {
		may_wait = false;
		for (t = threads; t != NULL; t = t->th_next) {
			if (t->th_detached || t == self ||
			    (id != 0 && !pthread_equal(t->th_id, id)))
				continue;
			if (t->th_ended) {
				remove_thread(t);
				return t;
			}
			may_wait = true;
		}
		if (!may_wait)
			return NULL;
		pthread_cond_wait(&ended, &thr_lock);
	}
}

int
thr_join(thread_t id, thread_t *departed, void **status)
{
	int err;

	if (id != 0 && pthread_equal(id, pthread_self()))
		return EDEADLK;
	pthread_mutex_lock(&thr_lock);
	struct thr *t = take_joinable(id);
	pthread_mutex_unlock(&thr_lock);
	if (t == NULL)
		return ESRCH;
	thread_t joined = t->th_id;
	if ((err = pthread_join(joined, status)) == 0 && departed != NULL)
		*departed = joined;
	free(t);
	return err;
}

void
thr_exit(void *status)
{
	pthread_exit(status);
}

thread_t
thr_self(void)
{
	return pthread_self();
}

void
thr_yield(void)
{
	sched_yield();
}
