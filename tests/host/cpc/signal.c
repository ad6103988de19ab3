/*
 * libcpc under a SIGEMT handler: whatever call it interrupts, the handler may
 * sample, bind and restart, and waits for nothing.
 */
#include "tests/lib/host/host.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cpc_set_t *own, *other;
static cpc_buf_t *buf;
static unsigned handled;

/* Ground rule 3's list, all of it. */
static void
handler(int sig)
{
	int err = errno;
	uint64_t value;

	assert_int_equal(sig, SIGEMT);
	handled++;
	fake_on_syscall = NULL;
	cpc_bind_curlwp(cpc, own, 0);
	cpc_set_sample(cpc, own, buf);
	cpc_buf_get(cpc, buf, 0, &value);
	cpc_buf_sub(cpc, buf, buf, buf);
	cpc_request_preset(cpc, 0, 1);
	cpc_set_restart(cpc, own);
	cpc_disable(cpc);
	cpc_enable(cpc);
	cpc_unbind(cpc, own);
	errno = err;
}

static void
strike(void)
{
	raise(SIGEMT);
}

/*
 * CPC-OVF-19, CPC-OVF-20, ground rule 3: a signal at every entry into the
 * kernel, where locks are held if they ever are, reaches the handler by the
 * end of the call and finds nothing locked.  An alarm ends a deadlock.
 */
static void
strike_during(void (*call)(void))
{
	unsigned before = handled;

	fake_on_syscall = strike;
	alarm(10);
	call();
	alarm(0);
	fake_on_syscall = NULL;
	assert_int_equal(handled, before + 1);
}

static void
call_add(void)
{
	add(other, "cycles");
}

static void
call_bind(void)
{
	cpc_bind_curlwp(cpc, other, 0);
}

static void
call_sample(void)
{
	cpc_set_sample(cpc, own, buf);
}

static void
call_unbind(void)
{
	cpc_unbind(cpc, own);
}

static void
call_unbind_other(void)
{
	cpc_unbind(cpc, other);
}

static void
call_restart(void)
{
	cpc_set_restart(cpc, own);
}

static void
call_destroy(void)
{
	cpc_set_destroy(cpc, other);
}

static void
handler_interrupts_anything(void **state)
{
	struct sigaction act, old;

	(void)state;
	memset(&act, 0, sizeof act);
	act.sa_handler = handler;
	sigaction(SIGEMT, &act, &old);
	own = set_of("instructions");
	other = set_of("cycles");
	buf = buf_of(own);
	/* A set that was bound asks the kernel whether it is still. */
	call_bind();
	call_unbind_other();
	strike_during(call_add);
	strike_during(call_bind);
	cpc_bind_curlwp(cpc, own, 0);
	strike_during(call_sample);
	strike_during(call_unbind);
	strike_during(call_restart);
	cpc_bind_curlwp(cpc, other, 0);
	strike_during(call_destroy);
	sigaction(SIGEMT, &old, NULL);
}

/* Ground rule 3: the caller's mask is as it was. */
static void
signal_mask_is_restored(void **state)
{
	sigset_t emt, before, after;

	(void)state;
	sigemptyset(&emt);
	sigaddset(&emt, SIGEMT);
	sigprocmask(SIG_BLOCK, NULL, &before);
	set_of("cycles");
	sigprocmask(SIG_BLOCK, &emt, &after);
	assert_false(sigismember(&after, SIGEMT));
	set_of("cycles");
	sigprocmask(SIG_SETMASK, &before, &after);
	assert_true(sigismember(&after, SIGEMT));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(handler_interrupts_anything),
		T(signal_mask_is_restored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
