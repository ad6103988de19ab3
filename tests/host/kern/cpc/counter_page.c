/*
 * Counter pages: their addresses, a failure to make one, what they show of a
 * set that is already bound, and faults in a read.  The explorer and the
 * image's tests show that reads are right.
 */
#include <string.h>

#include "include/sys/cpc.h"
#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/file/file.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/timer.h"
#include "tests/lib/host/kcpc/fake_kernel.h"
#include "tests/lib/host/kcpc/fake_mmu.h"
#include "tests/lib/host/kcpc/fake_pcbe.h"
#include "tests/lib/host/test.h"

#define FIRST  REGION_TOP /* the first address */
#define PLACES 1023       /* above all regions */
#define SET    77
#define SEQ_AT 0x500000UL /* the read sequence */
#define SEQ_TO 0x500040UL
#define EXIT   0x600000UL

static int
fixture_up(void **state)
{
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
fixture_down(void **state)
{
	const char *left = fake_halt();

	if (left != NULL)
		print_error("still there after the test: %s\n", left);
	return left == NULL ? 0 : -1;
}
#define CPC_TEST(name) TEST_WITH(name, fixture_up, fixture_down)

static intptr_t
call_kernel(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	const uintptr_t args[6] = { op, a, b, c, d };

	return kcpc_syscall(args);
}

static intptr_t
get_page(void)
{
	return call_kernel(CPC_OP_PAGE, SEQ_AT, SEQ_TO, EXIT, 0);
}

static const struct as *
space_of(unsigned p)
{
	return fake_lwp(p, 1)->l_proc->p_as;
}

/* The page of the current LWP. */
static const struct cpc_page *
own_page(void)
{
	return fake_mmu_page(lwp_self()->l_proc->p_as, (uintptr_t)get_page());
}

static void
bind_set(void)
{
	struct {
		struct cpc_pack head;
		struct cpc_packreq req;
	} pack = { .head = { .cp_set = SET, .cp_nreqs = 1 },
		.req = { .cr_preset = 5,
		    .cr_flags = CPC_COUNT_USER,
		    .cr_picnum = 2 } };
	struct cpc_refusal rf;

	pack.req.cr_event = (struct cpc_event){ .ce_pics = 0xf,
		.ce_code = SOFT_CODE(SOFT_INSTRUCTIONS) };
	assert_int_equal(call_kernel(CPC_OP_BIND, (uintptr_t)&pack, SET,
			     CPC_BIND_LWP_INHERIT, (uintptr_t)&rf),
	    0);
}

static struct {
	struct cpc_sample head;
	uint64_t value[1];
} last_sample;

static uint64_t
sample_set(void)
{
	assert_int_equal(
	    call_kernel(CPC_OP_SAMPLE, SET, (uintptr_t)&last_sample, 1, 0), 0);
	return last_sample.value[0];
}

/* A page takes its process's lowest free address until the LWP exits. */
CPC_TEST(each_lwp_has_an_address)
{
	assert_int_equal(get_page(), FIRST);
	assert_int_equal(get_page(), FIRST);
	assert_int_equal(
	    fake_mmu_prot(space_of(0), FIRST), PROT_READ | PROT_USER);
	fake_switch(0, 2);
	assert_int_equal(get_page(), FIRST + PAGE_SIZE);
	fake_switch(1, 1);
	lwp_self()->l_proc->p_as->as_system = true;
	assert_int_equal(get_page(), FIRST);
	assert_int_equal(fake_mmu_prot(space_of(1), FIRST), PROT_READ);
	lwp_self()->l_proc->p_as->as_system = false;
	fake_exit(0, 1);
	assert_null(fake_mmu_page(space_of(0), FIRST));
	fake_switch(0, 3);
	assert_int_equal(get_page(), FIRST);
	fake_exit(0, 2);
	fake_exit(0, 3);
	assert_int_equal(lwp_self()->l_proc->p_cpc_pages[0], 0);
}

/* Up to the end of the user half. */
CPC_TEST(all_addresses_are_used)
{
	static const unsigned places[] = { 0, 1, 63, 64, 127, 500, PLACES - 1 };
	uint64_t *taken_places = lwp_self()->l_proc->p_cpc_pages;

	assert_int_equal(FIRST + PLACES * PAGE_SIZE, USER_TOP);
	memset(taken_places, 0xff, PROC_CPC_WORDS * 8);
	assert_int_equal(get_page(), -ENOMEM);
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		uint64_t *word = &taken_places[places[i] / 64];

		*word = ~(1ULL << places[i] % 64);
		assert_int_equal(get_page(), FIRST + places[i] * PAGE_SIZE);
		assert_true(*word == ~0ULL);
		kcpc_page_free(lwp_self());
		assert_true(*word == ~(1ULL << places[i] % 64));
		*word = ~0ULL;
	}
	taken_places[PLACES / 64] = ~(1ULL << PLACES % 64);
	assert_int_equal(get_page(), -ENOMEM);
}

CPC_TEST(without_memory_there_is_no_page)
{
	bind_set();
	fake_user(3);
	for (unsigned nth = 1; nth <= 2; nth++) {
		fake_kmalloc_fails = nth;
		assert_int_equal(get_page(), -ENOMEM);
	}
	fake_mmu_fails = true;
	assert_int_equal(get_page(), -ENOMEM);
	assert_null(lwp_self()->l_cpc_page);
	assert_int_equal(sample_set(), 8);
	assert_int_equal(get_page(), FIRST);
}

/* A page that is made after a bind shows the bound set. */
CPC_TEST(the_page_shows_a_bound_set)
{
	bind_set();
	fake_user(10);
	fake_switch(0, 2);
	fake_switch(0, 1);
	fake_user(1);
	const struct cpc_page *cg = own_page();
	assert_int_equal(cg->cg_set, CPC_PAGE_SET(SET, 1));
	assert_int_equal(cg->cg_frozen, 0);
	assert_int_equal(cg->cg_mult, 12);
	assert_int_equal(cg->cg_lift, 3);
	assert_int_equal(cg->cg_req[0].cq_data, 5 + 11);
	assert_int_equal(cg->cg_req[0].cq_index, FAKE_READ_INDEX + 2);
	assert_int_equal(
	    cg->cg_req[0].cq_mask, ~0ULL >> (64 - fake_shape.width));
	fake_user(4);
	assert_int_equal(sample_set(), 5 + 15);
	assert_int_equal(last_sample.head.cs_tick, 3 * 15);
	assert_int_equal(cg->cg_req[0].cq_last, 5 + 11);
}

CPC_TEST(the_page_shows_a_frozen_set)
{
	bind_set();
	fake_user(10);
	assert_int_equal(call_kernel(CPC_OP_DISABLE, 0, 0, 0, 0), 0);
	assert_int_equal(sample_set(), 15);
	const struct cpc_page *cg = own_page();
	assert_int_equal(fake_pmu_running(), 0);
	assert_int_equal(cg->cg_set, 0);
	assert_int_equal(cg->cg_frozen, CPC_PAGE_SET(SET, 1));
	assert_int_equal(cg->cg_hrtime, last_sample.head.cs_hrtime);
	assert_int_equal(cg->cg_tick, 30);
	assert_int_equal(cg->cg_req[0].cq_data, 15);
	assert_int_equal(call_kernel(CPC_OP_RELE, SET, 0, 0, 0), 0);
	assert_int_equal(cg->cg_frozen, 0);
}

CPC_TEST(the_page_hides_an_invalid_set)
{
	bind_set();
	fake_invalidate();
	assert_int_equal(own_page()->cg_set, 0);
	assert_int_equal(own_page()->cg_frozen, 0);
}

/* The read continues there after a fault, so it must be in user memory. */
CPC_TEST(kernel_addresses_are_refused)
{
	for (unsigned i = 0; i < 3; i++) {
		uintptr_t a[3] = { SEQ_AT, SEQ_TO, EXIT };

		a[i] = USER_TOP;
		assert_int_equal(
		    call_kernel(CPC_OP_PAGE, a[0], a[1], a[2], 0), -EFAULT);
		assert_true(fake_refused == USER_TOP);
		a[i] = USER_TOP + 1 + i;
		assert_int_equal(
		    call_kernel(CPC_OP_PAGE, a[0], a[1], a[2], 0), -EFAULT);
		assert_true(fake_refused == USER_TOP + 1 + i);
	}
	assert_null(lwp_self()->l_cpc_page);
	assert_int_equal(call_kernel(CPC_OP_PAGE, USER_TOP - 1, USER_TOP - 1,
			     USER_TOP - 1, 0),
	    FIRST);
}

/* Programs cannot read PICs, as with a software PMU. */
CPC_TEST(no_page_without_user_reads)
{
	static struct pcbe_ops trapping;

	trapping = *fake_ops;
	trapping.pcbe_no_user_read = true;
	fake_backend = &trapping;
	fake_boot();
	assert_int_equal(get_page(), -ENOTSUP);
}

static bool
fault_at(uintptr_t pc, uintptr_t *then)
{
	struct trapframe tf = { .tf_pc = pc };
	bool mended = kcpc_read_fault(&tf);

	*then = tf.tf_pc;
	return mended;
}

CPC_TEST(a_fault_in_the_sequence_ends_the_read)
{
	uintptr_t then;

	assert_false(fault_at(SEQ_AT, &then)); /* there is no page yet */
	get_page();
	assert_false(fault_at(SEQ_AT - 1, &then));
	assert_int_equal(then, SEQ_AT - 1);
	assert_true(fault_at(SEQ_AT, &then));
	assert_int_equal(then, EXIT);
	assert_true(fault_at(SEQ_TO - 1, &then));
	assert_int_equal(then, EXIT);
	assert_false(fault_at(SEQ_TO, &then));
	assert_false(fault_at(SEQ_TO + 1, &then));
	/* The next program has a library with other addresses. */
	call_kernel(CPC_OP_PAGE, SEQ_TO, SEQ_TO + 8, EXIT + 8, 0);
	assert_false(fault_at(SEQ_AT, &then));
	assert_true(fault_at(SEQ_TO, &then));
	assert_int_equal(then, EXIT + 8);
}

CPC_TEST(a_handler_interrupts_the_read)
{
	kcpc_page_interrupted(lwp_self());
	uint64_t seq = own_page()->cg_seq;
	kcpc_page_interrupted(lwp_self());
	assert_true(own_page()->cg_seq > seq);
}

/* The forked program uses the address of its parent's page. */
CPC_TEST(a_forked_lwp_has_its_parents_address)
{
	uintptr_t then;

	assert_int_equal(kcpc_fork(fake_lwp(0, 1), fake_lwp(1, 1)), 0);
	assert_null(fake_lwp(1, 1)->l_cpc_page);
	get_page();
	fake_switch(0, 2);
	get_page();
	bind_set();
	fake_mmu_fails = true;
	assert_int_equal(kcpc_fork(fake_lwp(0, 2), fake_lwp(1, 1)), ENOMEM);
	assert_null(fake_lwp(1, 1)->l_cpc_page);
	assert_int_equal(kcpc_fork(fake_lwp(0, 2), fake_lwp(1, 1)), 0);
	fake_switch(1, 1);
	assert_ptr_not_equal(
	    fake_mmu_page(space_of(1), FIRST + PAGE_SIZE), NULL);
	assert_ptr_not_equal(fake_mmu_page(space_of(1), FIRST + PAGE_SIZE),
	    fake_mmu_page(space_of(0), FIRST + PAGE_SIZE));
	assert_true(fault_at(SEQ_AT, &then));
	assert_int_equal(then, EXIT);
	assert_false(fault_at(SEQ_AT - 1, &then));
	assert_false(fault_at(SEQ_TO, &then));
	assert_int_equal(own_page()->cg_set, 0);
}

/* If a profile cannot count the child, the fork fails and makes no page. */
CPC_TEST(a_late_failure_removes_the_page)
{
	struct file file = { .f_kind = FILE_PROFILE,
		.f_profile = kcpc_profile_new() };

	fake_file = &file;
	get_page();
	bind_set();
	assert_int_equal(own_page()->cg_set, CPC_PAGE_SET(SET, 1));
	assert_int_equal(call_kernel(CPC_OP_PROFILE, FAKE_FD, 0, 0, 0), 0);
	assert_int_equal(own_page()->cg_set, 0);
	assert_int_equal(own_page()->cg_frozen, 0);
	fake_exec();
	fake_user(3);
	assert_null(lwp_self()->l_cpc_page);
	get_page();
	/* the set belongs to the profile, not to the program */
	assert_int_equal(own_page()->cg_set, 0);
	fake_kmalloc_fails = 3;
	assert_int_equal(kcpc_fork(lwp_self(), fake_lwp(1, 1)), EAGAIN);
	assert_null(fake_lwp(1, 1)->l_cpc_page);
	assert_null(fake_lwp(1, 1)->l_cpc);
	kcpc_profile_release(file.f_profile);
	fake_file = NULL;
}

/* The child of vfork(2) has its parent's memory, but not its set. */
CPC_TEST(a_vfork_child_finds_no_set)
{
	struct lwp *parent = lwp_self(), *child = fake_lwp(1, 1);

	bind_set();
	const struct cpc_page *cg = own_page();
	child->l_proc->p_vforked = true;
	assert_int_equal(kcpc_fork(parent, child), 0);
	assert_null(child->l_cpc_page);
	assert_int_equal(cg->cg_set, 0);
	/* an overflow that is found when the parent leaves its CPU */
	kcpc_stop(parent->l_cpc);
	kcpc_freeze(parent->l_cpc, 0);
	assert_int_equal(cg->cg_frozen, 0);
	kcpc_vforked(parent);
	assert_int_equal(cg->cg_set, 0);
	assert_int_equal(cg->cg_frozen, CPC_PAGE_SET(SET, 1));

	assert_int_equal(kcpc_fork(parent, child), 0);
	assert_int_equal(cg->cg_frozen, 0);
	kcpc_vforked(parent);
	assert_int_equal(cg->cg_frozen, CPC_PAGE_SET(SET, 1));

	assert_int_equal(call_kernel(CPC_OP_ENABLE, 0, 0, 0, 0), 0);
	assert_int_equal(kcpc_fork(parent, child), 0);
	assert_int_equal(cg->cg_set, 0);
	kcpc_vforked(parent);
	assert_int_equal(cg->cg_set, CPC_PAGE_SET(SET, 1));
	assert_int_equal(cg->cg_frozen, 0);
	child->l_proc->p_vforked = false;
}
