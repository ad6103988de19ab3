/*
 * Solaris' synchronisation objects over those of POSIX threads: <synch.h>.
 * Every function returns 0 or an errno.
 */
#include <synch.h>

#include <errno.h>
#include <time.h>

/* USYNC_PROCESS, for objects in shared memory, is not implemented. */
static int
check_type(int type)
{
	return type == USYNC_THREAD ? 0 : EINVAL;
}

int
mutex_init(mutex_t *m, int type, void *arg)
{
	pthread_mutexattr_t attr;
	int kind = PTHREAD_MUTEX_NORMAL, err;

	(void)arg;
	if ((type & ~(LOCK_ERRORCHECK | LOCK_RECURSIVE)) != 0)
		return EINVAL;
	if ((type & LOCK_RECURSIVE) != 0)
		kind = PTHREAD_MUTEX_RECURSIVE;
	else if ((type & LOCK_ERRORCHECK) != 0)
		kind = PTHREAD_MUTEX_ERRORCHECK;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, kind);
	err = pthread_mutex_init(m, &attr);
	pthread_mutexattr_destroy(&attr);
	return err;
}

int
mutex_destroy(mutex_t *m)
{
	return pthread_mutex_destroy(m);
}

int
mutex_lock(mutex_t *m)
{
	return pthread_mutex_lock(m);
}

int
mutex_trylock(mutex_t *m)
{
	return pthread_mutex_trylock(m);
}

int
mutex_unlock(mutex_t *m)
{
	return pthread_mutex_unlock(m);
}

int
cond_init(cond_t *c, int type, void *arg)
{
	int err = check_type(type);

	(void)arg;
	return err != 0 ? err : pthread_cond_init(c, NULL);
}

int
cond_destroy(cond_t *c)
{
	return pthread_cond_destroy(c);
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
cond_signal(cond_t *c)
{
	return pthread_cond_signal(c);
}

int
cond_broadcast(cond_t *c)
{
	return pthread_cond_broadcast(c);
}

int
rwlock_init(rwlock_t *l, int type, void *arg)
{
	int err = check_type(type);

	(void)arg;
	return err != 0 ? err : pthread_rwlock_init(l, NULL);
}

int
rwlock_destroy(rwlock_t *l)
{
	return pthread_rwlock_destroy(l);
}

int
rw_rdlock(rwlock_t *l)
{
	return pthread_rwlock_rdlock(l);
}

int
rw_wrlock(rwlock_t *l)
{
	return pthread_rwlock_wrlock(l);
}

int
rw_tryrdlock(rwlock_t *l)
{
	return pthread_rwlock_tryrdlock(l);
}

int
rw_trywrlock(rwlock_t *l)
{
	return pthread_rwlock_trywrlock(l);
}

int
rw_unlock(rwlock_t *l)
{
	return pthread_rwlock_unlock(l);
}

static int
errno_of(int result)
{
	return result == 0 ? 0 : errno;
}

int
sema_init(sema_t *s, unsigned count, int type, void *arg)
{
	int err = check_type(type);

	(void)arg;
	return err != 0 ? err : errno_of(sem_init(s, 0, count));
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
