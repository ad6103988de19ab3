/* A profile's samples.  Periods of a real PMU: tests/cli/tools/record.py. */
#include "tests/lib/host/kcpc/profile.h"

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

/* Each overflow adds a sample instead of a signal, and the set continues. */
PROFILE_TEST(each_period_adds_a_sample)
{
	struct sample s[6];

	profile_begin(profile_set(NOTIFY), 1);
	profile_pass(0x1000); /* the program has not begun */
	fake_exec();
	for (unsigned i = 0; i < 3; i++) {
		profile_pass(0x1000 + i);
		profile_look();
		assert_int_equal(profile_st.ct_samples, i + 1);
		assert_int_equal(profile_st.ct_events, (i + 1) * PERIOD);
	}
	assert_int_equal(fake_clone(2), 0);
	fake_switch(0, 2);
	fake_enter(&profile_frame);
	profile_pass(0x2000);
	fake_user(4);
	assert_false(fake_return());
	fake_exit(0, 2);
	profile_look();
	assert_int_equal(profile_st.ct_samples, 4);
	assert_int_equal(profile_st.ct_lost, 0);
	assert_int_equal(profile_st.ct_events, 4 * PERIOD + 4);
	assert_int_equal(profile_take(s, sizeof s), 4 * sizeof s[0]);
	for (unsigned i = 0; i < 3; i++)
		assert_sample(&s[i], 1, 0x1000 + i);
	assert_sample(&s[3], 2, 0x2000);
	assert_int_equal(profile_take(s, sizeof s), 0);
}

/* A new LWP does not inherit an overflow that is not sampled yet. */
PROFILE_TEST(samples_are_not_inherited)
{
	profile_begin(profile_set(NOTIFY), 1);
	fake_exec();
	fake_user(PERIOD);
	assert_int_equal(fake_clone(2), 0);
	assert_false(fake_return());
	fake_switch(0, 2);
	fake_enter(&profile_frame);
	assert_false(fake_return());
	profile_look();
	assert_int_equal(profile_st.ct_samples, 1);
}

/* An overflow is not sampled if its LWP loses its counters first. */
PROFILE_TEST(an_invalid_context_adds_no_sample)
{
	profile_begin(profile_set(NOTIFY), 1);
	fake_exec();
	fake_user(PERIOD);
	fake_invalidate();
	assert_false(fake_return());
	profile_look();
	assert_int_equal(profile_st.ct_samples, 0);
}

/* A sample belongs to the program in which its period ended. */
PROFILE_TEST(samples_belong_to_their_program)
{
	struct sample s;

	profile_begin(profile_set(NOTIFY), 1);
	fake_exec();
	fake_hold_pmi = true;
	fake_user(PERIOD + 3); /* the interrupt is held */
	profile_frame.tf_pc = 0x1234;
	fake_exec();
	fake_hold_pmi = false;
	profile_look();
	assert_int_equal(profile_st.ct_events, PERIOD + 3);
	assert_int_equal(profile_take(&s, sizeof s), sizeof s);
	assert_sample(&s, 1, 0x1234);
	fake_user(PERIOD - 1);
	fake_exec();
	profile_look();
	assert_int_equal(profile_st.ct_samples, 1);
	profile_pass(
	    0); /* the last event of that period, and all but 1 of the next */
	profile_look();
	assert_int_equal(profile_st.ct_samples, 2);
	assert_int_equal(profile_st.ct_events, 3 * PERIOD + 2);
	fake_user(PERIOD); /* it was reported, and the set is frozen */
	fake_exec();
	profile_look();
	assert_int_equal(profile_st.ct_samples, 3);
	assert_int_equal(profile_st.ct_events, 4 * PERIOD + 2);
}

/* Callers' frames rise; the walk ends where not, and at the depth. */
PROFILE_TEST(callers_are_found_by_their_frames)
{
	static struct {
		uintptr_t fp, pc;
	} f[3];
	struct {
		struct cpc_profile_sample head;
		uint64_t pc[5];
	} s;
	static const struct {
		/* frame `from` points to frame `to`; 3: to a bad address */
		size_t from, to;
		unsigned frames;
	} cases[] = { { 2, 0, 4 }, { 2, 3, 4 }, { 1, 0, 3 }, { 1, 1, 3 },
		{ 1, 2, 4 } };
	uintptr_t to;

	profile_begin(profile_set(NOTIFY), 5);
	fake_exec();
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		f[0].fp = (uintptr_t)&f[1];
		f[1].fp = (uintptr_t)&f[2];
		f[2].fp = BAD;
		f[0].pc = 0x100;
		f[1].pc = 0x200;
		f[2].pc = 0x300;
		to = cases[i].to < 3 ? (uintptr_t)&f[cases[i].to]
		                     : (uintptr_t)&f[2] + 1;
		f[cases[i].from].fp = to;
		profile_frame.tf_fp = (uintptr_t)&f[0];
		profile_pass(0x50);
		assert_int_equal(profile_take(&s, sizeof s),
		    sizeof s.head + cases[i].frames * sizeof s.pc[0]);
		assert_int_equal(s.head.cm_nframes, cases[i].frames);
		assert_int_equal(s.pc[0], 0x50);
		assert_int_equal(s.pc[1], 0x100);
		assert_int_equal(s.pc[2], 0x200);
		if (cases[i].frames == 4)
			assert_int_equal(s.pc[3], 0x300);
	}
	f[1].pc = 0; /* a return address of 0 is not a caller */
	profile_pass(0x50);
	assert_int_equal(profile_take(&s, sizeof s), sizeof s.head + 2 * 8);
	profile_frame.tf_fp = BAD;
	profile_pass(0x50);
	assert_int_equal(profile_take(&s, sizeof s), sizeof s.head + 8);
}

PROFILE_TEST(no_more_frames_than_the_depth)
{
	static struct {
		uintptr_t fp, pc;
	} f[3];
	char s[64];

	profile_begin(profile_set(NOTIFY), 2);
	fake_exec();
	for (unsigned i = 0; i < 3; i++) {
		f[i].fp = (uintptr_t)&f[i + 1];
		f[i].pc = 1;
	}
	profile_frame.tf_fp = (uintptr_t)&f[0];
	profile_pass(0x50);
	assert_int_equal(profile_take(s, sizeof s),
	    sizeof(struct cpc_profile_sample) + 2 * 8);
}

#define MANY 1000 /* samples; a page holds about 125 */

/* A read returns as many whole samples as fit, in order. */
PROFILE_TEST(samples_are_read_in_full)
{
	static const size_t rooms[] = { sizeof(struct sample), 47, 100, 4096,
		sizeof(struct sample) * MANY };
	static struct sample s[MANY];
	unsigned i, n;
	intptr_t got;

	profile_begin(profile_set(NOTIFY), 1);
	fake_exec();
	for (i = 0; i < sizeof rooms / sizeof *rooms; i++) {
		for (n = 0; n < MANY; n++)
			profile_pass(n);
		assert_int_equal(profile_take(s, 31), -EINVAL);
		assert_int_equal(profile_take((void *)BAD, 100), -EFAULT);
		for (n = 0; n < MANY; n += (unsigned)got / sizeof *s) {
			got = profile_take(&s[n], rooms[i]);
			assert_true(got >= (intptr_t)sizeof *s &&
				    (size_t)got <= rooms[i]);
			assert_int_equal(got % (intptr_t)sizeof *s, 0);
		}
		for (n = 0; n < MANY; n++)
			assert_sample(&s[n], 1, n);
		assert_int_equal(profile_take(s, sizeof s), 0);
	}
}

/* Samples that arrive between two reads follow the unread ones. */
PROFILE_TEST(samples_come_while_others_are_read)
{
	struct sample s[4];

	profile_begin(profile_set(NOTIFY), 1);
	fake_exec();
	for (unsigned n = 0; n < 3; n++)
		profile_pass(n);
	assert_int_equal(profile_take(s, sizeof s[0]), sizeof s[0]);
	profile_pass(3);
	assert_int_equal(profile_take(&s[1], sizeof s), 3 * sizeof s[0]);
	for (unsigned n = 0; n < 4; n++)
		assert_sample(&s[n], 1, n);
}

/* One page holds many samples. */
PROFILE_TEST(samples_take_little_memory)
{
	profile_begin(profile_set(NOTIFY), 1);
	fake_exec();
	fake_kmalloc_fails = 2;
	for (unsigned n = 0; n < MANY / 8; n++)
		profile_pass(n);
	profile_look();
	assert_int_equal(profile_st.ct_lost, 0);
}

/* Without memory a sample is lost and counted as lost; the next is taken. */
PROFILE_TEST(without_memory_samples_are_lost)
{
	struct sample s;

	profile_begin(profile_set(NOTIFY), 1);
	fake_exec();
	fake_kmalloc_fails = 1;
	profile_pass(1);
	profile_pass(2);
	profile_look();
	assert_int_equal(profile_st.ct_samples, 2);
	assert_int_equal(profile_st.ct_lost, 1);
	assert_int_equal(profile_st.ct_events, 2 * PERIOD);
	assert_int_equal(profile_take(&s, sizeof s), sizeof s);
	assert_sample(&s, 1, 2);
}

/* A late interrupt ends several periods with a sample; an LWP's end, none. */
PROFILE_TEST(periods_without_a_sample_are_counted)
{
	profile_begin(profile_set(NOTIFY), 1);
	fake_exec();
	fake_hold_pmi = true;
	fake_user(3 * PERIOD + 1);
	fake_switch(0, 2); /* finds the overflow */
	fake_switch(0, 1);
	assert_false(fake_return());
	profile_look();
	assert_int_equal(profile_st.ct_samples, 1);
	assert_int_equal(profile_st.ct_missed, 2);
	fake_user(2 * PERIOD);
	fake_switch(0, 2);
	fake_ctx(0, 1)->kc_flags &= ~KCPC_CTX_SIGOVF; /* it is lost */
	fake_exit(0, 1);
	fake_hold_pmi = false;
	profile_look();
	assert_int_equal(profile_st.ct_samples, 1);
	assert_int_equal(profile_st.ct_missed, 4);
	assert_int_equal(profile_st.ct_events, 5 * PERIOD + 1);
}

/* The LWP ends between the overflow and its sample. */
PROFILE_TEST(the_last_period_has_a_sample)
{
	struct sample s;

	profile_begin(profile_set(NOTIFY), 1);
	fake_exec();
	fake_user(PERIOD);
	profile_frame.tf_pc = 0x1234;
	fake_exit(0, 1);
	profile_look();
	assert_int_equal(profile_st.ct_samples, 1);
	assert_int_equal(profile_st.ct_missed, 0);
	assert_int_equal(profile_take(&s, sizeof s), sizeof s);
	assert_sample(&s, 1, 0x1234);
}

/* There is no memory for the program's name. */
PROFILE_TEST(a_program_may_lack_a_name)
{
	struct sample s;

	profile_begin(profile_set(NOTIFY), 1);
	fake_kmalloc_fails = 1;
	fake_exec();
	profile_pass(1);
	assert_int_equal(profile_take(&s, sizeof s), sizeof s);
	assert_int_equal(s.head.cm_image, CPC_PROFILE_NO_IMAGE);
}

static struct pcbe_nmi_log nmi_log;

static struct pcbe_nmi_log *
get_nmi_log(void)
{
	return &nmi_log;
}

/* A sample of depth 2: an address in the kernel, the program's next one. */
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

/* kern/cpc/pcbe.h: after one in the kernel the PIC itself continues. */
PROFILE_TEST(overflows_in_the_kernel_are_sampled)
{
	static struct pcbe_ops nmi;
	struct pair s[4];
	struct sample last;

	nmi = *fake_ops;
	nmi.nmi_log = get_nmi_log;
	fake_backend = &nmi;
	kcpc_profile_release(profile_file.f_profile);
	reboot();
	profile_open();
	profile_begin(profile_set(CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT), 2);
	struct pcbe_set *ps = &fake_ctx(0, 1)->kc_pcbe;
	assert_true(ps->ps_nmi_reload == -(uint64_t)PERIOD);
	assert_true(ps->ps_config == PCBE_CONFIG_NEW);
	fake_exec();
	for (unsigned i = 1; i <= 2; i++) {
		/* The PIC ends three periods and counts 4 more. */
		fake_hold_pmi = true;
		fake_system(PERIOD);
		fake_system((1ULL << 48) - PERIOD + 4);
		nmi_log = (struct pcbe_nmi_log){ .pk_n = 2,
			.pk_lost = 1,
			.pk_pc = { 0x111, 0x222 },
			.pk_last = 0x333 };
		profile_frame.tf_pc = 0x50;
		fake_switch(0, 2);
		assert_int_equal(nmi_log.pk_n, 0);
		assert_int_equal(nmi_log.pk_lost, 0);
		assert_int_equal(nmi_log.pk_last, 0);
		fake_switch(0, 1);
		assert_false(fake_return());
		fake_hold_pmi = false;
		profile_look();
		assert_int_equal(profile_st.ct_kernel, 1);
		assert_int_equal(profile_st.ct_samples, 4 * i);
		assert_int_equal(profile_st.ct_lost, i);
		assert_int_equal(profile_st.ct_events, i * (3 * PERIOD + 4));
		assert_int_equal(profile_take(s, sizeof s), 3 * sizeof s[0]);
		assert_pair(&s[0], 0x111, 0x50);
		assert_pair(&s[1], 0x222, 0x50);
		assert_pair(&s[2], 0x333, 0x50);
	}
	fake_system(PERIOD);
	assert_false(fake_return());
	assert_int_equal(profile_take(&last, sizeof last), sizeof last);
	assert_sample(&last, 1, 0x50);
}
