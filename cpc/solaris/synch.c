/*
 * Solaris' synchronisation objects over those of POSIX threads: <synch.h>.
 * Every function returns 0 or an errno.
 */
#include <synch.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

/* A type without LOCK_* is what pthread_*attr_setpshared() takes. */
_Static_assert(USYNC_THREAD == PTHREAD_PROCESS_PRIVATE, "");
_Static_assert(USYNC_PROCESS == PTHREAD_PROCESS_SHARED, "");

static bool
is_initialised(const mutex_t *m)
{
	static const mutex_t zeros;

	return memcmp(m, &zeros, sizeof zeros) != 0;
}

int
mutex_init(mutex_t *m, int type, void *)
{
	pthread_mutexattr_t attr;
	int kind = PTHREAD_MUTEX_NORMAL, err;

	if ((type & ~(USYNC_PROCESS | LOCK_ERRORCHECK | LOCK_RECURSIVE |
			LOCK_ROBUST)) != 0)
		return EINVAL;
	/* Older programs make a robust mutex consistent by this call. */
	if ((type & LOCK_ROBUST) != 0 && is_initialised(m))
		return pthread_mutex_consistent(m) == 0 ? 0 : EBUSY;
	if ((type & LOCK_RECURSIVE) != 0)
		kind = PTHREAD_MUTEX_RECURSIVE;
	else if ((type & LOCK_ERRORCHECK) != 0)
		kind = PTHREAD_MUTEX_ERRORCHECK;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, kind);
	pthread_mutexattr_setpshared(&attr, type & USYNC_PROCESS);
	err = (type & LOCK_ROBUST) == 0
	          ? 0
	          : pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (err == 0)
		err = pthread_mutex_init(m, &attr);
	pthread_mutexattr_destroy(&attr);
	return err;
}

/* mutex_init() takes zeros for a mutex that is not initialised. */
int
mutex_destroy(mutex_t *m)
{
	int err = pthread_mutex_destroy(m);

	if (err == 0)
		memset(m, 0, sizeof *m);
	return err;
}

int
mutex_consistent(mutex_t *m)
{
	int err = pthread_mutex_consistent(m);

	return err == EPERM ? EINVAL : err;
}

int
cond_init(cond_t *c, int type, void *)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	int err = pthread_condattr_setpshared(&attr, type);
	if (err == 0)
		err = pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
	return err;
}

int
cond_wait(cond_t *c, mutex_t *m)
{
	return pthread_cond_wait(c, m);
}

int
cond_timedwait(cond_t *c, mutex_t *m, const timestruc_t *until)
{
	int err = pthread_cond_timedwait(c, m, until);

	return err == ETIMEDOUT ? ETIME : err;
}

int
cond_reltimedwait(cond_t *c, mutex_t *m, const timestruc_t *time)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += time->tv_sec;
	until.tv_nsec += time->tv_nsec;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return cond_timedwait(c, m, &until);
}

int
rwlock_init(rwlock_t *l, int type, void *)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	int err = pthread_rwlockattr_setpshared(&attr, type);
	if (err == 0)
		err = pthread_rwlock_init(l, &attr);
	pthread_rwlockattr_destroy(&attr);
	return err;
}

/* Solaris' name of a function of POSIX threads. */
#define SAME(name, posix, type)                                                \
	int name(type *object)                                                 \
	{                                                                      \
		return posix(object);                                          \
	}
SAME(mutex_lock, pthread_mutex_lock, mutex_t)
SAME(mutex_trylock, pthread_mutex_trylock, mutex_t)
SAME(mutex_unlock, pthread_mutex_unlock, mutex_t)
SAME(cond_destroy, pthread_cond_destroy, cond_t)
SAME(cond_signal, pthread_cond_signal, cond_t)
SAME(cond_broadcast, pthread_cond_broadcast, cond_t)
SAME(rwlock_destroy, pthread_rwlock_destroy, rwlock_t)
SAME(rw_rdlock, pthread_rwlock_rdlock, rwlock_t)
SAME(rw_wrlock, pthread_rwlock_wrlock, rwlock_t)
SAME(rw_tryrdlock, pthread_rwlock_tryrdlock, rwlock_t)
SAME(rw_trywrlock, pthread_rwlock_trywrlock, rwlock_t)
SAME(rw_unlock, pthread_rwlock_unlock, rwlock_t)

static int
errno_of(int result)
{
	return result == 0 ? 0 : errno;
}

int
sema_init(sema_t *s, unsigned count, int type, void *)
{
	if (type != USYNC_THREAD && type != USYNC_PROCESS)
		return EINVAL;
	return errno_of(sem_init(s, type, count));
}

int
sema_destroy(sema_t *s)
{
	return errno_of(sem_destroy(s));
}

int
sema_wait(sema_t *s)
{
	return errno_of(sem_wait(s));
}

int
sema_trywait(sema_t *s)
{
	int err = errno_of(sem_trywait(s));

	return err == EAGAIN ? EBUSY : err;
}

int
sema_post(sema_t *s)
{
	return errno_of(sem_post(s));
}
