/* libcpc in a SIGEMT handler, which may interrupt any call and never waits. */
#include "tests/lib/host/kcpc/host.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static cpc_set_t *own, *other;
static cpc_buf_t *buf;
static unsigned handled;

/* Every call that ground rule 3 allows in a handler. */
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
raise_sigemt(void)
{
	raise(SIGEMT);
}

/*
 * CPC-OVF-19, CPC-OVF-20, ground rule 3.  The signal comes at every entry into
 * the kernel, where the library may hold a lock.  The handler runs before the
 * call returns, and finds nothing locked.  An alarm ends a deadlock.
 */
static void
interrupt_call(void (*call)(void))
{
	unsigned before = handled;

	fake_on_syscall = raise_sigemt;
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

CPC_TEST(handler_interrupts_anything)
{
	struct sigaction act, old;

	memset(&act, 0, sizeof act);
	act.sa_handler = handler;
	sigaction(SIGEMT, &act, &old);
	own = set_of("instructions");
	other = set_of("cycles");
	buf = buf_of(own);
	/* If a set was bound, the library asks if it still is. */
	call_bind();
	call_unbind_other();
	interrupt_call(call_add);
	interrupt_call(call_bind);
	cpc_bind_curlwp(cpc, own, 0);
	interrupt_call(call_sample);
	interrupt_call(call_unbind);
	interrupt_call(call_restart);
	cpc_bind_curlwp(cpc, other, 0);
	interrupt_call(call_destroy);
	sigaction(SIGEMT, &old, NULL);
}

/* Ground rule 3: the library restores the caller's signal mask. */
CPC_TEST(signal_mask_is_restored)
{
	sigset_t emt, before, after;

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
