/*
 * Profiles: what can be one, whom it counts, the samples it takes, and that
 * nothing of it is left.  That a period is the same number of events each
 * time is for a PMU to show: tests/cli/record.py.
 */
#include "tests/host/host.h"

#include <string.h>

#include "kern/file.h"
#include "kern/kcpc.h"
#include "kern/kcpc_impl.h"

#define NOTIFY (CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT)
#define PERIOD 10
#define BAD    8UL /* an address nothing is mapped at */

static struct file file;
static struct cpc_profile_stat st;
static struct trapframe frame;

static void
post(struct lwp *l)
{
	(void)l;
}

/* Of a kernel that was booted just now. */
static void
open_file(void)
{
	kcpc_set_notify(post);
	file = (struct file){ .f_kind = FILE_PROFILE,
		.f_profile = kcpc_profile_new() };
	fake_file = &file;
	frame = (struct trapframe){ .tf_pc = 0x1000, .tf_fp = 0 };
	fake_enter(&frame);
}

static int
profile_up(void **state)
{
	if (fixture_up(state) != 0)
		return -1;
	open_file();
	return 0;
}

/* The file is closed first, and its contexts end with their LWPs. */
static int
profile_down(void **state)
{
	if (file.f_profile != NULL)
		kcpc_profile_release(file.f_profile);
	fake_file = NULL;
	fake_backend = NULL;
	return fixture_down(state);
}
#define P(fn) cmocka_unit_test_setup_teardown(fn, profile_up, profile_down)

static int
attach(uintptr_t fd, uintptr_t depth)
{
	return (int)-cpc_syscall(CPC_OP_PROFILE, fd, depth, 0, 0);
}

/*
 * A set is a profile's, of that depth, from the next program on; whatever it
 * has counted before, an overflow that was not yet told included.
 */
static void
begin(cpc_set_t *set, unsigned depth)
{
	assert_int_equal(cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT), 0);
	fake_user(PERIOD);
	assert_int_equal(attach(FAKE_FD, depth), 0);
}

static cpc_set_t *
periodic(uint_t flags)
{
	cpc_set_t *set = cpc_set_create(cpc);

	assert_int_equal(cpc_set_add_request(cpc, set, "instructions",
			     -(uint64_t)PERIOD, flags, 0, NULL),
	    0);
	return set;
}

static void
look(void)
{
	assert_int_equal(
	    cpc_syscall(CPC_OP_PROFILE_STAT, FAKE_FD, (uintptr_t)&st, 0, 0), 0);
}

static intptr_t
take(void *buf, size_t len)
{
	return kcpc_profile_read(file.f_profile, (uintptr_t)buf, len);
}

/* A period of the current LWP passes, and it goes back to its program. */
static void
pass(uintptr_t pc)
{
	fake_user(PERIOD);
	frame.tf_pc = pc;
	assert_false(fake_return());
}

/* include/sys/cpc.h, CPC_OP_PROFILE: what is refused goes on as it was. */
static void
what_a_profile_can_be_of(void **state)
{
	cpc_set_t *plain = set_of("instructions"), *two = periodic(NOTIFY);
	cpc_set_t *one = periodic(NOTIFY);
	struct file other = { .f_kind = FILE_NULL };

	(void)state;
	assert_int_equal(attach(FAKE_FD, 1), EINVAL); /* nothing is bound */
	bind_curlwp(one);
	assert_int_equal(attach(FAKE_FD, 1), EINVAL); /* not inherited */

	assert_int_equal(cpc_bind_curlwp(cpc, plain, CPC_BIND_LWP_INHERIT), 0);
	assert_int_equal(attach(FAKE_FD, 1), EINVAL); /* tells of nothing */
	assert_int_equal(attach(FAKE_FD + 1, 0), EBADF);
	assert_int_equal(attach(FAKE_FD | 1ULL << 32, 0), EBADF);
	fake_file = &other;
	assert_int_equal(attach(FAKE_FD, 0), EBADF);
	fake_file = &file;
	fake_user(4);
	assert_int_equal(sampled(plain, 0), 4);

	add(two, "cycles");
	assert_int_equal(cpc_bind_curlwp(cpc, two, CPC_BIND_LWP_INHERIT), 0);
	assert_int_equal(attach(FAKE_FD, 1), EINVAL); /* samples of which? */
	assert_int_equal(attach(FAKE_FD, 0), EINVAL); /* sums tell nothing */

	assert_int_equal(cpc_bind_curlwp(cpc, one, CPC_BIND_LWP_INHERIT), 0);
	assert_int_equal(attach(FAKE_FD, CPC_PROFILE_DEPTH + 1), EINVAL);
	assert_int_equal(attach(FAKE_FD, CPC_PROFILE_DEPTH), 0);
	fake_switch(0, 2);
	assert_int_equal(cpc_bind_curlwp(cpc, one, CPC_BIND_LWP_INHERIT), 0);
	assert_int_equal(attach(FAKE_FD, 1), EINVAL); /* it serves once */
	fake_invalidate();
	assert_int_equal(attach(FAKE_FD, 1), EAGAIN);
}

static void
there_may_be_no_memory(void **state)
{
	(void)state;
	fake_kmalloc_fails = 1;
	assert_null(kcpc_profile_new());
}

/* Nobody else's files. */
static void
only_profiles_are_asked(void **state)
{
	struct cpc_profile_image im;

	(void)state;
	assert_int_equal(
	    cpc_syscall(CPC_OP_PROFILE_STAT, FAKE_FD, BAD, 0, 0), -EFAULT);
	assert_int_equal(
	    cpc_syscall(CPC_OP_PROFILE_STAT, FAKE_FD + 1, (uintptr_t)&st, 0, 0),
	    -EBADF);
	assert_int_equal(
	    cpc_syscall(CPC_OP_PROFILE_IMAGE, FAKE_FD, 0, (uintptr_t)&im, 0),
	    -ENOENT);
	assert_int_equal(cpc_syscall(CPC_OP_PROFILE_IMAGE, FAKE_FD + 1, 0,
			     (uintptr_t)&im, 0),
	    -EBADF);
	assert_int_equal(take(&st, sizeof st), 0);
}

/* CPC-EXEC-01: one that is no profile's; and so does a CPU's. */
static void
a_set_ends_with_its_program(void **state)
{
	cpc_set_t *set = set_of("instructions");
	struct kcpc_stat ks;

	(void)state;
	bind_curlwp(set);
	fake_exec();
	assert_false(fake_pmu_any());
	assert_null(fake_ctx(0, 1));
	fake_exec();
	begin(set, 0);
	assert_int_equal(cpc_bind_cpu(cpc, 1, set, 0), 0);
	fake_exec();
	assert_false(fake_pmu_any());
	kcpc_stat(&ks);
	assert_int_equal(ks.ks_contexts, 1); /* the profile's */
}

/*
 * The library has lost the set, which counts for nobody until the program
 * begins; and for that from the presets.
 */
static void
the_next_program_is_counted(void **state)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_buf_t *buf;
	uint64_t sums[3] = { 0 };

	(void)state;
	add_preset(set, "instructions", 100);
	add_preset(set, "cycles", 7);
	buf = buf_of(set);
	begin(set, 0);
	assert_false(fake_pmu_any());
	fake_user(1000);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
	assert_errno(cpc_set_restart(cpc, NULL), EINVAL);
	assert_errno(cpc_unbind(cpc, set), EINVAL);
	assert_int_equal(add(set, "cycles"), 2);
	look();
	assert_int_equal(st.ct_lwps, 0);
	assert_int_equal(st.ct_left, 1);
	assert_int_equal(st.ct_kernel, 0);

	fake_exec();
	assert_int_equal(fake_pmu_readable(), 0);
	fake_user(7);
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EAGAIN);
	assert_errno(cpc_set_restart(cpc, NULL), EINVAL);
	fake_exec(); /* which goes on */
	fake_user(3);
	look();
	assert_int_equal(st.ct_lwps, 1);
	assert_int_equal(st.ct_events, 0); /* it has yet to end */
	fake_exit(0, 1);
	look();
	assert_int_equal(st.ct_left, 0);
	assert_int_equal(st.ct_events, 10);
	assert_int_equal(st.ct_revoked, 0);

	assert_int_equal(take(sums, 7), 0);
	assert_int_equal(take(sums, 15), 8);
	assert_int_equal(sums[0], 10);
	assert_int_equal(sums[1], 0);
	assert_int_equal(take(sums, sizeof sums), 16);
	assert_int_equal(sums[1], 30);
	assert_int_equal(take((void *)BAD, 8), -EFAULT);
}

/* LWPs of it, and processes: they begin at the presets, and are summed. */
static void
what_it_forks_is_counted(void **state)
{
	struct kcpc_stat ks;

	(void)state;
	assert_int_equal(fake_fork(1, 1), 0); /* of no profile: nothing */
	assert_null(fake_ctx(1, 1));
	begin(set_of("instructions"), 0);
	assert_int_equal(fake_fork(1, 1), 0); /* it has not begun */
	assert_null(fake_ctx(1, 1));
	fake_exec();
	fake_user(1000);
	assert_int_equal(fake_clone(2), 0);
	assert_int_equal(fake_fork(1, 1), 0);
	fake_switch(0, 2);
	fake_user(20);
	fake_switch(1, 1);
	fake_user(300);
	fake_exec();
	look();
	assert_int_equal(st.ct_lwps, 3);
	assert_int_equal(st.ct_left, 3);
	fake_exit(0, 2);
	fake_exit(1, 1);
	look();
	assert_int_equal(st.ct_events, 320);
	assert_int_equal(st.ct_left, 1);
	fake_exit(0, 1);
	look();
	assert_int_equal(st.ct_events, 1320);
	kcpc_stat(&ks);
	assert_int_equal(ks.ks_contexts, 0);
}

/* Rather no process than one that is not counted. */
static void
no_memory_no_fork(void **state)
{
	(void)state;
	begin(set_of("instructions"), 0);
	fake_exec();
	fake_kmalloc_fails = 1;
	assert_int_equal(fake_fork(1, 1), EAGAIN);
	assert_null(fake_ctx(1, 1));
	look();
	assert_int_equal(st.ct_lwps, 1);
	assert_int_equal(st.ct_left, 1);
}

/* A set that is bound to a CPU takes the counters for good. */
static void
what_is_revoked_counts_no_more(void **state)
{
	(void)state;
	begin(set_of("instructions"), 0);
	fake_exec();
	fake_user(5);
	assert_int_equal(fake_clone(3), 0);
	fake_invalidate();
	fake_user(100);
	assert_int_equal(fake_clone(2), 0);
	assert_null(fake_ctx(0, 2));
	fake_exec();
	fake_user(100);
	fake_exit(0, 1);
	fake_switch(0, 3);
	fake_user(2);
	fake_invalidate();
	fake_exit(0, 3);
	look();
	assert_int_equal(st.ct_events, 7);
	assert_int_equal(st.ct_lwps, 2);
	assert_int_equal(st.ct_revoked, 2);
}

/* Before the program began; and one that never begins is not counted. */
static void
what_never_begins(void **state)
{
	(void)state;
	begin(set_of("instructions"), 0);
	fake_invalidate();
	fake_exec();
	assert_false(fake_pmu_any());
	fake_user(100);
	fake_exit(0, 1);
	look();
	assert_int_equal(st.ct_lwps, 1);
	assert_int_equal(st.ct_events, 0);
	assert_int_equal(st.ct_revoked, 1);

	kcpc_profile_release(file.f_profile);
	file.f_profile = kcpc_profile_new();
	fake_switch(0, 2);
	begin(set_of("instructions"), 0);
	fake_invalidate();
	fake_exit(0, 2);
	look();
	assert_int_equal(st.ct_lwps, 0);
	assert_int_equal(st.ct_revoked, 0);
}

/* A sample of depth 1. */
struct sample {
	struct cpc_profile_sample head;
	uint64_t pc;
};

static void
assert_sample(const struct sample *s, unsigned lwp, uint64_t pc)
{
	assert_int_equal(s->head.cm_lwp, lwp);
	assert_int_equal(s->head.cm_nframes, 1);
	assert_int_equal(s->head.cm_image, 0);
	assert_int_equal(s->pc, pc);
}

/* Each overflow leaves a sample instead of a signal, and counts on. */
static void
each_period_leaves_a_sample(void **state)
{
	struct sample s[6];
	unsigned i;

	(void)state;
	begin(periodic(NOTIFY), 1);
	pass(0x1000); /* not yet, and what was before is nobody's */
	fake_exec();
	for (i = 0; i < 3; i++) {
		pass(0x1000 + i);
		look();
		assert_int_equal(st.ct_samples, i + 1);
		assert_int_equal(st.ct_events, (i + 1) * PERIOD);
	}
	assert_int_equal(fake_clone(2), 0);
	fake_switch(0, 2);
	fake_enter(&frame);
	pass(0x2000);
	fake_user(4);
	assert_false(fake_return());
	fake_exit(0, 2);
	look();
	assert_int_equal(st.ct_samples, 4);
	assert_int_equal(st.ct_lost, 0);
	assert_int_equal(st.ct_events, 4 * PERIOD + 4);
	assert_int_equal(take(s, sizeof s), 4 * sizeof s[0]);
	for (i = 0; i < 3; i++)
		assert_sample(&s[i], 1, 0x1000 + i);
	assert_sample(&s[3], 2, 0x2000);
	assert_int_equal(take(s, sizeof s), 0);
}

/* Nor does an LWP that is made meanwhile have its maker's. */
static void
samples_are_not_inherited(void **state)
{
	(void)state;
	begin(periodic(NOTIFY), 1);
	fake_exec();
	fake_user(PERIOD);
	assert_int_equal(fake_clone(2), 0);
	assert_false(fake_return());
	fake_switch(0, 2);
	fake_enter(&frame);
	assert_false(fake_return());
	look();
	assert_int_equal(st.ct_samples, 1);
}

/* The period's end was not told of when its LWP lost its counters. */
static void
what_is_revoked_leaves_no_sample(void **state)
{
	(void)state;
	begin(periodic(NOTIFY), 1);
	fake_exec();
	fake_user(PERIOD);
	fake_invalidate();
	assert_false(fake_return());
	look();
	assert_int_equal(st.ct_samples, 0);
}

/* A sample is of the program in which its period ended. */
static void
samples_are_of_their_program(void **state)
{
	struct sample s;

	(void)state;
	begin(periodic(NOTIFY), 1);
	fake_exec();
	fake_hold_pmi = true;
	fake_user(PERIOD + 3); /* nobody has been told */
	frame.tf_pc = 0x1234;
	fake_exec();
	fake_hold_pmi = false;
	look();
	assert_int_equal(st.ct_events, PERIOD + 3);
	assert_int_equal(take(&s, sizeof s), sizeof s);
	assert_sample(&s, 1, 0x1234);
	fake_user(PERIOD - 1);
	fake_exec();
	look();
	assert_int_equal(st.ct_samples, 1);
	pass(0); /* the last event of that period, and of the next all but 1 */
	look();
	assert_int_equal(st.ct_samples, 2);
	assert_int_equal(st.ct_events, 3 * PERIOD + 2);
	fake_user(PERIOD); /* it has been told, and is frozen */
	fake_exec();
	look();
	assert_int_equal(st.ct_samples, 3);
	assert_int_equal(st.ct_events, 4 * PERIOD + 2);
}

/* Frames lie ever higher; the walk ends where they do, and at the depth. */
static void
callers_are_found_by_their_frames(void **state)
{
	static struct {
		uintptr_t fp, pc;
	} f[3];
	struct {
		struct cpc_profile_sample head;
		uint64_t pc[5];
	} s;
	static const struct {
		size_t from, to; /* in what is there, this is the next frame */
		unsigned frames;
	} cases[] = { { 2, 0, 4 }, { 2, 3, 4 }, { 1, 0, 3 }, { 1, 1, 3 },
		{ 1, 2, 4 } };
	uintptr_t to;
	unsigned i;

	(void)state;
	begin(periodic(NOTIFY), 5);
	fake_exec();
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		f[0].fp = (uintptr_t)&f[1];
		f[1].fp = (uintptr_t)&f[2];
		f[2].fp = BAD;
		f[0].pc = 0x100;
		f[1].pc = 0x200;
		f[2].pc = 0x300;
		to = cases[i].to < 3 ? (uintptr_t)&f[cases[i].to]
		                     : (uintptr_t)&f[2] + 1;
		f[cases[i].from].fp = to;
		frame.tf_fp = (uintptr_t)&f[0];
		pass(0x50);
		assert_int_equal(take(&s, sizeof s),
		    sizeof s.head + cases[i].frames * sizeof s.pc[0]);
		assert_int_equal(s.head.cm_nframes, cases[i].frames);
		assert_int_equal(s.pc[0], 0x50);
		assert_int_equal(s.pc[1], 0x100);
		assert_int_equal(s.pc[2], 0x200);
		if (cases[i].frames == 4)
			assert_int_equal(s.pc[3], 0x300);
	}
	f[1].pc = 0; /* who returns to nowhere is no caller */
	pass(0x50);
	assert_int_equal(take(&s, sizeof s), sizeof s.head + 2 * 8);
	frame.tf_fp = BAD;
	pass(0x50);
	assert_int_equal(take(&s, sizeof s), sizeof s.head + 8);
}

static void
no_more_frames_than_the_depth(void **state)
{
	static struct {
		uintptr_t fp, pc;
	} f[3];
	char s[64];
	unsigned i;

	(void)state;
	begin(periodic(NOTIFY), 2);
	fake_exec();
	for (i = 0; i < 3; i++) {
		f[i].fp = (uintptr_t)&f[i + 1];
		f[i].pc = 1;
	}
	frame.tf_fp = (uintptr_t)&f[0];
	pass(0x50);
	assert_int_equal(take(s, sizeof s), 8 + 2 * 8);
}

#define MANY 1000 /* samples, of some 250 to a page */

/* As many as fit, whole and in their order, whatever has room for how many. */
static void
samples_are_read_whole(void **state)
{
	static const size_t rooms[] = { 16, 31, 100, 4096, 16 * MANY };
	static struct sample s[MANY];
	unsigned i, n;
	intptr_t got;

	(void)state;
	begin(periodic(NOTIFY), 1);
	fake_exec();
	for (i = 0; i < sizeof rooms / sizeof *rooms; i++) {
		for (n = 0; n < MANY; n++)
			pass(n);
		assert_int_equal(take(s, 15), -EINVAL);
		assert_int_equal(take((void *)BAD, 100), -EFAULT);
		for (n = 0; n < MANY; n += (unsigned)got / sizeof *s) {
			got = take(&s[n], rooms[i]);
			assert_true(got >= 16 && (size_t)got <= rooms[i]);
			assert_int_equal(got % 16, 0);
		}
		for (n = 0; n < MANY; n++)
			assert_sample(&s[n], 1, n);
		assert_int_equal(take(s, sizeof s), 0);
	}
}

/* Those that come between two reads are behind those that are left. */
static void
samples_come_while_others_are_read(void **state)
{
	struct sample s[4];
	unsigned n;

	(void)state;
	begin(periodic(NOTIFY), 1);
	fake_exec();
	for (n = 0; n < 3; n++)
		pass(n);
	assert_int_equal(take(s, sizeof s[0]), sizeof s[0]);
	pass(3);
	assert_int_equal(take(&s[1], sizeof s), 3 * sizeof s[0]);
	for (n = 0; n < 4; n++)
		assert_sample(&s[n], 1, n);
}

/* A page has room for many. */
static void
samples_take_little_memory(void **state)
{
	unsigned n;

	(void)state;
	begin(periodic(NOTIFY), 1);
	fake_exec();
	fake_kmalloc_fails = 2;
	for (n = 0; n < MANY / 5; n++)
		pass(n);
	look();
	assert_int_equal(st.ct_lost, 0);
}

/* A sample is lost, which is counted, and the next is not. */
static void
without_memory_samples_are_lost(void **state)
{
	struct sample s;

	(void)state;
	begin(periodic(NOTIFY), 1);
	fake_exec();
	fake_kmalloc_fails = 1;
	pass(1);
	pass(2);
	look();
	assert_int_equal(st.ct_samples, 2);
	assert_int_equal(st.ct_lost, 1);
	assert_int_equal(st.ct_events, 2 * PERIOD);
	assert_int_equal(take(&s, sizeof s), sizeof s);
	assert_sample(&s, 1, 2);
}

/* There is no memory for the name of its program. */
static void
a_program_may_go_nameless(void **state)
{
	struct sample s;

	(void)state;
	begin(periodic(NOTIFY), 1);
	fake_kmalloc_fails = 1;
	fake_exec();
	pass(1);
	assert_int_equal(take(&s, sizeof s), sizeof s);
	assert_int_equal(s.head.cm_image, CPC_PROFILE_NO_IMAGE);
}

static struct pcbe_struck notes;

static struct pcbe_struck *
struck(void)
{
	return &notes;
}

/* A sample of depth 2: the kernel's instruction, and the program's next. */
struct pair {
	struct cpc_profile_sample head;
	uint64_t pc[2];
};

static void
assert_pair(const struct pair *s, uint64_t kernel, uint64_t pc)
{
	assert_int_equal(s->head.cm_nframes, 2);
	assert_int_equal(s->pc[0], kernel);
	assert_int_equal(s->pc[1], pc);
}

/*
 * kern/pcbe.h: where overflows struck the kernel the PIC has counted on, by
 * itself, from the preset each time.
 */
static void
what_struck_the_kernel_is_sampled(void **state)
{
	static struct pcbe_ops nmi;
	struct pcbe_set *ps;
	struct pair s[4];
	struct sample last;
	unsigned i;

	(void)state;
	nmi = *fake_ops;
	nmi.struck = struck;
	fake_backend = &nmi;
	kcpc_profile_release(file.f_profile);
	reboot();
	open_file();
	begin(periodic(CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT), 2);
	ps = &fake_ctx(0, 1)->kc_pcbe;
	assert_true(ps->ps_resume == -(uint64_t)PERIOD);
	assert_true(ps->ps_selection == PCBE_UNSELECTED);
	fake_exec();
	for (i = 1; i <= 2; i++) {
		/* It goes round, thrice from where it began, and 4 further. */
		fake_hold_pmi = true;
		fake_system(PERIOD);
		fake_system((1ULL << 48) - PERIOD + 4);
		notes = (struct pcbe_struck){ .pk_n = 2,
			.pk_lost = 1,
			.pk_pc = { 0x111, 0x222 },
			.pk_last = 0x333 };
		frame.tf_pc = 0x50;
		fake_switch(0, 2);
		assert_int_equal(notes.pk_n, 0);
		assert_int_equal(notes.pk_lost, 0);
		assert_int_equal(notes.pk_last, 0);
		fake_switch(0, 1);
		assert_false(fake_return());
		fake_hold_pmi = false;
		look();
		assert_int_equal(st.ct_kernel, 1);
		assert_int_equal(st.ct_samples, 4 * i);
		assert_int_equal(st.ct_lost, i);
		assert_int_equal(st.ct_events, i * (3 * PERIOD + 4));
		assert_int_equal(take(s, sizeof s), 3 * sizeof s[0]);
		assert_pair(&s[0], 0x111, 0x50);
		assert_pair(&s[1], 0x222, 0x50);
		assert_pair(&s[2], 0x333, 0x50);
	}
	fake_system(PERIOD);
	assert_false(fake_return());
	assert_int_equal(take(&last, sizeof last), sizeof last);
	assert_sample(&last, 1, 0x50);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		P(what_a_profile_can_be_of),
		P(there_may_be_no_memory),
		P(only_profiles_are_asked),
		P(a_set_ends_with_its_program),
		P(the_next_program_is_counted),
		P(what_it_forks_is_counted),
		P(no_memory_no_fork),
		P(what_is_revoked_counts_no_more),
		P(what_never_begins),
		P(each_period_leaves_a_sample),
		P(samples_are_not_inherited),
		P(what_is_revoked_leaves_no_sample),
		P(samples_are_of_their_program),
		P(callers_are_found_by_their_frames),
		P(no_more_frames_than_the_depth),
		P(samples_are_read_whole),
		P(samples_come_while_others_are_read),
		P(samples_take_little_memory),
		P(without_memory_samples_are_lost),
		P(a_program_may_go_nameless),
		P(what_struck_the_kernel_is_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
