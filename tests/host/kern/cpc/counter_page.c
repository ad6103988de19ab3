/*
 * Counter pages: where they are, what is left where one cannot be made, what
 * a set that is bound already tells by it, and the way out of a read.  That
 * reads are right is for the explorer and the image to show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "include/sys/cpc.h"
#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/timer.h"
#include "tests/lib/host/fake_kernel.h"
#include "tests/lib/host/fake_mmu.h"
#include "tests/lib/host/fake_pcbe.h"

#define FIRST  0x10000UL /* the first place */
#define PLACES 1008      /* docs: below all regions, NULL's neighbours left */
#define SET    77
#define SEQ_AT 0x500000UL /* the read sequence */
#define SEQ_TO 0x500040UL
#define EXIT   0x600000UL

static int
up(void **state)
{
	(void)state;
	fake_shape = fake_ordinary;
	fake_backend = NULL;
	tick_scale = (struct tick_scale){ 12, 3 };
	fake_boot();
	for (unsigned p = 0; p < FAKE_NPROC; p++)
		memset(fake_lwp(p, 1)->l_proc->p_cpc_pages, 0,
		    sizeof fake_lwp(p, 1)->l_proc->p_cpc_pages);
	return 0;
}

static int
down(void **state)
{
	const char *left = fake_halt();

	(void)state;
	if (left != NULL)
		print_error("left behind: %s\n", left);
	return left == NULL ? 0 : -1;
}
#define T(fn) cmocka_unit_test_setup_teardown(fn, up, down)

static intptr_t
door(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	const uintptr_t args[6] = { op, a, b, c, d };

	return kcpc_syscall(args);
}

static intptr_t
get(void)
{
	return door(CPC_OP_PAGE, SEQ_AT, SEQ_TO, EXIT, 0);
}

static const struct as *
space(unsigned p)
{
	return &fake_lwp(p, 1)->l_proc->p_as;
}

/* The page of the LWP that runs. */
static const struct cpc_page *
page(void)
{
	return fake_mmu_page(&lwp_self()->l_proc->p_as, (uintptr_t)get());
}

static void
bind(void)
{
	struct {
		struct cpc_pack head;
		struct cpc_packreq req;
	} pack = { .head = { SET, 1, sizeof pack },
		.req = { .cr_preset = 5,
		    .cr_flags = CPC_COUNT_USER,
		    .cr_picnum = 2 } };
	struct cpc_refusal rf;

	pack.req.cr_event = (struct cpc_event){ .ce_pics = 0xf,
		.ce_code = SOFT_CODE(SOFT_INSTRUCTIONS) };
	assert_int_equal(door(CPC_OP_BIND, (uintptr_t)&pack, SET,
			     CPC_BIND_LWP_INHERIT, (uintptr_t)&rf),
	    0);
}

static struct {
	struct cpc_sample head;
	uint64_t value[1];
} taken;

static uint64_t
sampled(void)
{
	assert_int_equal(door(CPC_OP_SAMPLE, SET, (uintptr_t)&taken, 1, 0), 0);
	return taken.value[0];
}

/* The lowest place that is free, in each process; and free again at the end. */
static void
each_lwp_has_a_place(void **state)
{
	(void)state;
	assert_int_equal(get(), FIRST);
	assert_int_equal(get(), FIRST);
	assert_int_equal(fake_mmu_prot(space(0), FIRST), PROT_READ | PROT_USER);
	fake_switch(0, 2);
	assert_int_equal(get(), FIRST + PAGE_SIZE);
	fake_switch(1, 1);
	lwp_self()->l_proc->p_as.as_system = true;
	assert_int_equal(get(), FIRST);
	assert_int_equal(fake_mmu_prot(space(1), FIRST), PROT_READ);
	lwp_self()->l_proc->p_as.as_system = false;
	fake_exit(0, 1);
	assert_null(fake_mmu_page(space(0), FIRST));
	fake_switch(0, 3);
	assert_int_equal(get(), FIRST);
	fake_exit(0, 2);
	fake_exit(0, 3);
	assert_int_equal(lwp_self()->l_proc->p_cpc_pages[0], 0);
}

/* Up to where regions begin. */
static void
all_places_are_used(void **state)
{
	static const unsigned places[] = { 0, 1, 63, 64, 127, 500, PLACES - 1 };
	uint64_t *taken_places = lwp_self()->l_proc->p_cpc_pages;
	unsigned i;

	(void)state;
	assert_int_equal(FIRST + PLACES * PAGE_SIZE, USER_BASE);
	memset(taken_places, 0xff, PROC_CPC_WORDS * 8);
	assert_int_equal(get(), -ENOMEM);
	for (i = 0; i < sizeof places / sizeof *places; i++) {
		uint64_t *word = &taken_places[places[i] / 64];

		*word = ~(1ULL << places[i] % 64);
		assert_int_equal(get(), FIRST + places[i] * PAGE_SIZE);
		assert_true(*word == ~0ULL);
		kcpc_page_free(lwp_self());
		assert_true(*word == ~(1ULL << places[i] % 64));
		*word = ~0ULL;
	}
	taken_places[PLACES / 64] = ~(1ULL << PLACES % 64);
	assert_int_equal(get(), -ENOMEM);
}

static void
without_memory_there_is_none(void **state)
{
	(void)state;
	bind();
	fake_user(3);
	for (unsigned nth = 1; nth <= 2; nth++) {
		fake_kmalloc_fails = nth;
		assert_int_equal(get(), -ENOMEM);
	}
	fake_mmu_fails = true;
	assert_int_equal(get(), -ENOMEM);
	assert_null(lwp_self()->l_cpc_page);
	assert_int_equal(sampled(), 8);
	assert_int_equal(get(), FIRST);
}

/* A set that is bound is told of by the page that comes later. */
static void
a_bound_set_is_told_of(void **state)
{
	const struct cpc_page *cg;

	(void)state;
	bind();
	fake_user(10);
	fake_switch(0, 2);
	fake_switch(0, 1);
	fake_user(1);
	cg = page();
	assert_int_equal(cg->cg_set, SET);
	assert_int_equal(cg->cg_frozen, 0);
	assert_int_equal(cg->cg_nreqs, 1);
	assert_int_equal(cg->cg_mult, 12);
	assert_int_equal(cg->cg_lift, 3);
	assert_int_equal(cg->cg_req[0].cq_data, 5 + 11);
	assert_int_equal(cg->cg_req[0].cq_index, FAKE_READ_INDEX + 2);
	assert_int_equal(cg->cg_req[0].cq_shift, 64 - fake_shape.width);
	fake_user(4);
	assert_int_equal(sampled(), 5 + 15);
	assert_int_equal(taken.head.cs_tick, 3 * 15);
	assert_int_equal(cg->cg_req[0].cq_last, 5 + 11);
}

static void
a_frozen_set_is_told_of(void **state)
{
	const struct cpc_page *cg;

	(void)state;
	bind();
	fake_user(10);
	assert_int_equal(door(CPC_OP_DISABLE, 0, 0, 0, 0), 0);
	assert_int_equal(sampled(), 15);
	cg = page();
	assert_int_equal(fake_pmu_running(), 0);
	assert_int_equal(cg->cg_set, 0);
	assert_int_equal(cg->cg_frozen, SET);
	assert_int_equal(cg->cg_hrtime, taken.head.cs_hrtime);
	assert_int_equal(cg->cg_tick, 30);
	assert_int_equal(cg->cg_req[0].cq_data, 15);
	assert_int_equal(door(CPC_OP_RELE, SET, 0, 0, 0), 0);
	assert_int_equal(cg->cg_frozen, 0);
}

static void
an_invalid_set_is_not_told_of(void **state)
{
	(void)state;
	bind();
	fake_invalidate();
	assert_int_equal(page()->cg_set, 0);
	assert_int_equal(page()->cg_frozen, 0);
	assert_int_equal(page()->cg_nreqs, 0);
}

/* A fault goes on there: nowhere but in user memory. */
static void
kernel_addresses_are_refused(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		uintptr_t a[3] = { SEQ_AT, SEQ_TO, EXIT };

		a[i] = USER_TOP;
		assert_int_equal(
		    door(CPC_OP_PAGE, a[0], a[1], a[2], 0), -EFAULT);
		assert_true(fake_refused == USER_TOP);
		a[i] = USER_TOP + 1 + i;
		assert_int_equal(
		    door(CPC_OP_PAGE, a[0], a[1], a[2], 0), -EFAULT);
		assert_true(fake_refused == USER_TOP + 1 + i);
	}
	assert_null(lwp_self()->l_cpc_page);
	assert_int_equal(
	    door(CPC_OP_PAGE, USER_TOP - 1, USER_TOP - 1, USER_TOP - 1, 0),
	    FIRST);
}

static void
advance(uint64_t n, unsigned privilege)
{
	(void)privilege;
	fake_user(n);
}

/* Nothing can be read of a PMU that is software. */
static void
software_has_none(void **state)
{
	static struct pcbe_ops software;

	(void)state;
	software = *fake_ops;
	software.advance = advance;
	fake_backend = &software;
	fake_boot();
	assert_int_equal(get(), -ENOTSUP);
}

static bool
faults(uintptr_t pc, uintptr_t *then)
{
	struct trapframe tf = { .tf_pc = pc };
	bool mended = kcpc_read_fault(&tf);

	*then = tf.tf_pc;
	return mended;
}

static void
a_fault_in_the_sequence_goes_on_outside(void **state)
{
	uintptr_t then;

	(void)state;
	assert_false(faults(SEQ_AT, &then)); /* there is no page */
	get();
	assert_false(faults(SEQ_AT - 1, &then));
	assert_int_equal(then, SEQ_AT - 1);
	assert_true(faults(SEQ_AT, &then));
	assert_int_equal(then, EXIT);
	assert_true(faults(SEQ_TO - 1, &then));
	assert_int_equal(then, EXIT);
	assert_false(faults(SEQ_TO, &then));
	assert_false(faults(SEQ_TO + 1, &then));
	/* Another library's, in the program that comes next. */
	door(CPC_OP_PAGE, SEQ_TO, SEQ_TO + 8, EXIT + 8, 0);
	assert_false(faults(SEQ_AT, &then));
	assert_true(faults(SEQ_TO, &then));
	assert_int_equal(then, EXIT + 8);
}

static void
a_handler_interrupts_the_read(void **state)
{
	uint64_t seq;

	(void)state;
	kcpc_page_interrupted(lwp_self());
	seq = page()->cg_seq;
	kcpc_page_interrupted(lwp_self());
	assert_true(page()->cg_seq > seq);
}

/* Its program believes to have a page, where its parent's is. */
static void
a_forked_lwp_has_its_parents_place(void **state)
{
	uintptr_t then;

	(void)state;
	assert_int_equal(kcpc_fork(fake_lwp(0, 1), fake_lwp(1, 1)), 0);
	assert_null(fake_lwp(1, 1)->l_cpc_page);
	get();
	fake_switch(0, 2);
	get();
	bind();
	fake_mmu_fails = true;
	assert_int_equal(kcpc_fork(fake_lwp(0, 2), fake_lwp(1, 1)), ENOMEM);
	assert_null(fake_lwp(1, 1)->l_cpc_page);
	assert_int_equal(kcpc_fork(fake_lwp(0, 2), fake_lwp(1, 1)), 0);
	fake_switch(1, 1);
	assert_ptr_not_equal(fake_mmu_page(space(1), FIRST + PAGE_SIZE), NULL);
	assert_ptr_not_equal(fake_mmu_page(space(1), FIRST + PAGE_SIZE),
	    fake_mmu_page(space(0), FIRST + PAGE_SIZE));
	assert_true(faults(SEQ_AT, &then));
	assert_int_equal(then, EXIT);
	assert_false(faults(SEQ_AT - 1, &then));
	assert_false(faults(SEQ_TO, &then));
	assert_int_equal(page()->cg_set, 0);
}

/* A profile's child that cannot be counted is not made: nor is its page. */
static void
a_late_failure_takes_the_page_away(void **state)
{
	struct file file = { .f_kind = FILE_PROFILE,
		.f_profile = kcpc_profile_new() };

	(void)state;
	fake_file = &file;
	get();
	bind();
	assert_int_equal(page()->cg_set, SET);
	assert_int_equal(door(CPC_OP_PROFILE, FAKE_FD, 0, 0, 0), 0);
	assert_int_equal(page()->cg_set, 0);
	assert_int_equal(page()->cg_frozen, 0);
	fake_exec();
	fake_user(3);
	assert_null(lwp_self()->l_cpc_page);
	get();
	assert_int_equal(page()->cg_set, 0); /* it is not the program's */
	fake_kmalloc_fails = 3;
	assert_int_equal(kcpc_fork(lwp_self(), fake_lwp(1, 1)), EAGAIN);
	assert_null(fake_lwp(1, 1)->l_cpc_page);
	assert_null(fake_lwp(1, 1)->l_cpc);
	kcpc_profile_release(file.f_profile);
	fake_file = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_lwp_has_a_place),
		T(all_places_are_used),
		T(without_memory_there_is_none),
		T(a_bound_set_is_told_of),
		T(a_frozen_set_is_told_of),
		T(an_invalid_set_is_not_told_of),
		T(kernel_addresses_are_refused),
		T(software_has_none),
		T(a_fault_in_the_sequence_goes_on_outside),
		T(a_handler_interrupts_the_read),
		T(a_forked_lwp_has_its_parents_place),
		T(a_late_failure_takes_the_page_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
