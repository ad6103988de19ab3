/* Helpers for tests of libcpc: a handle, requests, samples, the machine. */
#include "tests/lib/image/cpc_test.h"

#include <payload.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/cpc.h>
#include <sys/processor.h>

struct test_detail test_detail;
bool software_pmu;

static void
record_report(const char *fn, int subcode, const char *fmt, va_list ap)
{
	test_detail.calls++;
	test_detail.fn = fn;
	test_detail.subcode = subcode;
	vsnprintf(test_detail.text, sizeof test_detail.text, fmt, ap);
}

cpc_t *
test_cpc_open(void)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);

	if (cpc == NULL)
		return NULL;
	cpc_seterrhndlr(cpc, record_report);
	software_pmu = strncmp(cpc_cciname(cpc), "Software", 8) == 0;
	return cpc;
}

bool
direct_reads(void)
{
	char text[8192];

	return payload_machine(text, sizeof text) > 0 &&
	       strstr(text, "\"user_read\":true") != NULL;
}

uint_t
own_privilege(void)
{
	return payload_privilege() == PAYLOAD_SYSTEM ? CPC_COUNT_SYSTEM
	                                             : CPC_COUNT_USER;
}

bool
emulated(void)
{
	char text[8192];

	return payload_machine(text, sizeof text) > 0 &&
	       strstr(text, "\"vmm\":\"tcg\"") != NULL;
}

bool
emulator_lists(void)
{
	char text[8192];

	return payload_machine(text, sizeof text) > 0 &&
	       strstr(text, "\"models\":\"listed\"") != NULL;
}

bool
have_event(cpc_t *cpc, const char *event)
{
	cpc_set_t *set = cpc_set_create(cpc);
	bool have = cpc_set_add_request(cpc, set, event, 0, 0, 0, NULL) != -1;

	cpc_set_destroy(cpc, set);
	return have;
}

bool
pic_counts(cpc_t *cpc, const char *event, uint64_t pic)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char name[] = "picnum";
	cpc_attr_t attr = { name, pic };
	bool counts =
	    cpc_set_add_request(cpc, set, event, 0, 0, 1, &attr) != -1;

	cpc_set_destroy(cpc, set);
	return counts;
}

int
add_flags(cpc_t *cpc, cpc_set_t *set, const char *event, uint_t flags)
{
	int index = cpc_set_add_request(cpc, set, event, 0, flags, 0, NULL);

	EXPECT(index != -1);
	return index;
}

int
add(cpc_t *cpc, cpc_set_t *set, const char *event)
{
	return add_flags(cpc, set, event, own_privilege());
}

int
add_preset(cpc_t *cpc, cpc_set_t *set, const char *event, uint64_t preset)
{
	int index = cpc_set_add_request(
	    cpc, set, event, preset, own_privilege(), 0, NULL);

	EXPECT(index != -1);
	return index;
}

int
add_pic(
    cpc_t *cpc, cpc_set_t *set, const char *event, uint64_t pic, uint_t flags)
{
	char name[] = "picnum";
	cpc_attr_t attr = { name, pic };
	int index = cpc_set_add_request(cpc, set, event, 0, flags, 1, &attr);

	EXPECT(index != -1);
	return index;
}

cpc_set_t *
set_of(cpc_t *cpc, const char *event)
{
	cpc_set_t *set = cpc_set_create(cpc);

	EXPECT(set != NULL);
	add(cpc, set, event);
	return set;
}

uint64_t
sampled(cpc_t *cpc, cpc_set_t *set, int index)
{
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t value = 0;

	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	EXPECT_EQ(cpc_buf_get(cpc, buf, index, &value), 0);
	cpc_buf_destroy(cpc, buf);
	return value;
}

static _Thread_local sigjmp_buf refused;

static void
on_refusal(int sig)
{
	siglongjmp(refused, sig);
}

bool
direct_read_faults(void)
{
	bool faults = sigsetjmp(refused, 1) != 0;

	if (!faults) {
		signal(SIGILL, on_refusal);
		signal(SIGSEGV, on_refusal);
		pic_read(0);
	}
	signal(SIGILL, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
	return faults;
}

void
retire(uint64_t n, uint_t privilege)
{
	EXPECT_EQ(cpc_syscall(CPC_OP_ADVANCE, n, privilege, 0, 0), 0);
}

void
spin(uint64_t iterations)
{
	spin_loop(iterations);
	if (software_pmu)
		retire(SPIN_INSNS * iterations, own_privilege());
}

void
spin_counted(cpc_t *cpc, cpc_set_t *set, uint64_t iterations, uint64_t *value)
{
	cpc_buf_t *before = cpc_buf_create(cpc, set);
	cpc_buf_t *after = cpc_buf_create(cpc, set);

	for (int round = 0; round < 2; round++) {
		EXPECT_EQ(cpc_set_sample(cpc, set, before), 0);
		spin(iterations);
		EXPECT_EQ(cpc_set_sample(cpc, set, after), 0);
	}
	cpc_buf_sub(cpc, after, after, before);
	for (int i = 0; i < 2; i++)
		cpc_buf_get(cpc, after, i, &value[i]);
	cpc_buf_destroy(cpc, before);
	cpc_buf_destroy(cpc, after);
}

ONE_COPY uint64_t
spin_sampled(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, uint64_t n)
{
	uint64_t before = 0, after = 0;

	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_get(cpc, buf, 0, &before);
	spin(n);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_get(cpc, buf, 0, &after);
	return after - before;
}

void
expect_exact_spin(cpc_t *cpc, cpc_set_t *set)
{
	cpc_buf_t *buf = cpc_buf_create(cpc, set);

	spin_sampled(cpc, set, buf, SPIN_SHORT); /* touches code and data */
	uint64_t brief = spin_sampled(cpc, set, buf, SPIN_SHORT);
	EXPECT_EQ(spin_sampled(cpc, set, buf, SPIN_LONG) - brief,
	    SPIN_INSNS * (SPIN_LONG - SPIN_SHORT));
	cpc_buf_destroy(cpc, buf);
}

int
last_cpu(void)
{
	struct barecpc_stat st;

	return payload_stat(&st) == 0 ? (int)st.bs_cpus - 1 : 0;
}

void
go_to(int cpu)
{
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, cpu, NULL), 0);
}

void
as_another_lwp(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	if (EXPECT(pthread_create(&t, NULL, fn, arg) == 0))
		EXPECT_EQ(pthread_join(t, NULL), 0);
}

void
work(void)
{
	spin(10000);
}

uint64_t
general_code(uint64_t code)
{
#ifdef __x86_64__
	static const uint16_t fixed[] = { 0xc0, 0x3c, 0x13c, 0x1a4 };

	if (code >> 30 == 1)
		code = fixed[code & 3];
#endif
	return code;
}

#ifdef __x86_64__
static bool
is_amd(void)
{
	uint32_t a = 0, b, c, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return b == 0x68747541; /* "Auth" */
}

/* Does CPUID.0AH say version 6, whose slots QEMU counts? */
static bool
has_v6(void)
{
	uint32_t a = 0xa, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return (a & 0xff) >= 6;
}

bool
emulator_models(uint64_t code)
{
	bool edge_inv_or_cmask = (code & 0xff840000) != 0;

	if (code >> 30 == 1)
		return true; /* a fixed PIC */
	if ((code & 0x200000) != 0)
		return false; /* any thread */
	if (is_amd()) {
		code &= 0xf0000ffff;
		return code == 0xc0 || code == 0x76 || code == 0xc2;
	}
	code &= 0xffff;
	return code == 0xc0 || code == 0x3c || code == 0xc4 || code == 0x1b7 ||
	       code == 0x1bb || (code == 0x13c && !edge_inv_or_cmask) ||
	       (code == 0x1a4 && has_v6());
}
#else
/* QEMU: SW increments, instructions, cycles; by our patch INST_SPEC. */
bool
emulator_models(uint64_t code)
{
	return code == 0x00 || code == 0x08 || code == 0x11 || code == 0x1b;
}
#endif

bool
can_bind(cpc_t *cpc, const char *event)
{
	cpc_set_t *set = cpc_set_create(cpc);
	bool bound = cpc_set_add_request(cpc, set, event, 0,
			 CPC_COUNT_USER | CPC_COUNT_SYSTEM, 0, NULL) == 0 &&
	             cpc_bind_curlwp(cpc, set, 0) == 0;

	cpc_set_destroy(cpc, set);
	return bound;
}
