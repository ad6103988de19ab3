/*
 * Threads and processors under their Solaris names: <thread.h>,
 * <sys/processor.h>.
 */
#include <thread.h>

#include <errno.h>
#include <sched.h>
#include <sys/barecpc.h>
#include <sys/processor.h>
#include <unistd.h>

static int
set_stack(pthread_attr_t *attr, void *stack, size_t bytes)
{
	if (stack != NULL)
		return pthread_attr_setstack(attr, stack, bytes);
	return bytes != 0 ? pthread_attr_setstacksize(attr, bytes) : 0;
}

int
thr_create(void *stack, size_t bytes, void *(*fn)(void *), void *arg,
    long flags, thread_t *id)
{
	pthread_attr_t attr;
	thread_t t;
	int err;

	if (flags & ~(THR_BOUND | THR_NEW_LWP | THR_DETACHED | THR_DAEMON))
		return EINVAL;
	pthread_attr_init(&attr);
	err = set_stack(&attr, stack, bytes);
	if (err == 0 && (flags & (THR_DETACHED | THR_DAEMON)))
		err =
		    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (err == 0)
		err = pthread_create(&t, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	if (err == 0 && id != NULL)
		*id = t;
	return err;
}

int
thr_join(thread_t id, thread_t *departed, void **status)
{
	int err;

	if (id == 0)
		return ESRCH;
	if ((err = pthread_join(id, status)) == 0 && departed != NULL)
		*departed = id;
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

int
processor_bind(idtype_t idtype, id_t id, processorid_t cpu, processorid_t *old)
{
	return (int)syscall(BARECPC_SYS_SCHED, BARECPC_SCHED_BIND, (long)idtype,
	    (long)(int)id, (long)cpu, old);
}

int
p_online(processorid_t cpu, int state)
{
	return (int)syscall(
	    BARECPC_SYS_SCHED, BARECPC_SCHED_ONLINE, (long)cpu, (long)state);
}
