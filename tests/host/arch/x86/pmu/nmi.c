/*
 * Overflows inside the kernel, over registers that count: a set that asks for
 * it is interrupted by NMIs, which strike any access to a register, of start,
 * stop and sample, too, and may be late.
 */
#include "arch/x86/pmu/pic.h"

#include "tests/lib/host/intel_shapes.h"

#define EVENT   "0xc0"
#define WORK    20 /* instructions of the kernel between start and stop */
#define LATEST  12 /* accesses an NMI is late by, at most */
#define LONGEST 60 /* more than start, work and stop retire */

/* The NMI: whether it can come, and after how many instructions. */
static bool in_nmi;
static unsigned lateness, to_wait;
static unsigned struck;

static void
strike(void)
{
	if (!cpu->nmi_pending || in_nmi)
		return;
	if (to_wait > 0) {
		to_wait--;
		return;
	}
	cpu->nmi_pending = false;
	to_wait = lateness;
	in_nmi = true;
	struck++;
	assert_true(x86_pic_nmi(0));
	in_nmi = false;
}

/* An access is an instruction of the kernel. */
static void
retire(void)
{
	fake_run(1, false);
	strike();
}

static void
work(unsigned n)
{
	while (n-- > 0)
		retire();
}

/*
 * Two requests for the kernel's instructions, the first to be told of its
 * overflow after n; or for the program's.
 */
static void
make(struct x86_set *s, uint64_t n, unsigned flags)
{
	set_init(s, ops);
	assert_int_equal(set_add(s, 0, EVENT, flags | NOTIFY, "", -n), 0);
	assert_int_equal(set_add(s, 1, EVENT, flags, "", 0), 0);
	s->set.ps_urgent = (flags & SYSTEM) != 0 ? 1U << 0 : 0;
}

static void
begin(const struct fake_cpu *shape, unsigned late)
{
	boot(shape);
	lateness = to_wait = late;
	struck = 0;
	fake_each = retire;
}

static void
end(void)
{
	fake_each = NULL;
}

/* CPC-OVF-02: as the set that runs asks for it. */
static void
delivery_follows_the_set(void **state)
{
	struct x86_set system, user;

	(void)state;
	boot(&skylake);
	make(&system, 1000, SYSTEM);
	make(&user, 1000, USER);
	set_start(&user);
	assert_false(cpu->nmi);
	set_stop(&user);
	set_start(&system);
	assert_true(cpu->nmi);
	set_stop(&system);
	/* The same again: nobody has to write it. */
	cpu->nmi = false;
	set_start(&system);
	assert_false(cpu->nmi);
	set_stop(&system);
	cpu->nmi = true;
	set_start(&user);
	assert_false(cpu->nmi);
	set_stop(&user);
}

/* An NMI of somebody else's is not taken for an overflow. */
static void
foreign_nmis_are_told(void **state)
{
	struct x86_set system, user;

	(void)state;
	boot(&skylake);
	assert_false(x86_pic_nmi(0));
	make(&system, 1000, SYSTEM);
	make(&user, 1, USER);
	set_start(&system);
	assert_false(x86_pic_nmi(0));
	set_stop(&system);
	set_start(&user);
	fake_run(2, true);
	assert_false(x86_pic_nmi(0));
	assert_int_equal(set_stop(&user), 1);
	assert_int_equal(cpu->late, 0);
}

/*
 * Two NMIs and one stop: the first struck a payload and waits for the kernel
 * lock, the second struck that wait, another CPU's call stops the set.  The
 * first finds nothing, late or not, but that something was found.
 */
static void
one_stop_explains_two(void **state)
{
	struct x86_set system;
	uint32_t found;

	(void)state;
	boot(&skylake);
	make(&system, 1, SYSTEM);
	set_start(&system);
	found = x86_pic_nmi_found();
	fake_run(2, false);
	assert_true(x86_pic_nmi(0));
	assert_int_equal(set_stop(&system), 1);
	assert_false(x86_pic_nmi_late());
	assert_int_equal(x86_pic_nmi_found(), found + 1);
}

/*
 * One run of the set, with an overflow somewhere in start, work or stop, or
 * behind them; then one of another's, that has none.
 */
static void
one_way(const struct fake_cpu *shape, uint64_t n, unsigned late)
{
	struct x86_set system, user;
	uint64_t overflowed;

	begin(shape, late);
	make(&system, n, SYSTEM);
	make(&user, 1000, USER);
	set_start(&system);
	work(WORK);
	overflowed = set_stop(&system);
	set_start(&user);
	work(WORK);
	fake_run(10, true);
	assert_int_equal(set_stop(&user), 0);
	end();

	/* It is told if it happened, once, and to the set whose it was. */
	assert_int_equal(overflowed, (int64_t)system.data[0] >= 0);
	/* Nothing is lost and nothing is counted twice. */
	assert_int_equal(system.data[0] + n, system.data[1]);
	assert_int_equal(user.data[1], 10);
	/* Stopped at once it counts the NMI's first accesses, no more. */
	if (late == 0 && overflowed != 0)
		assert_true(system.data[0] <= 4);
	/* Each overflow has its NMI, and that is all. */
	assert_int_equal(struck, overflowed);
	assert_int_equal(cpu->handed + cpu->late, struck);
	assert_false(cpu->nmi);
	assert_false(x86_pic_nmi(0));
	/* What comes next interrupts. */
	set_start(&system);
	assert_true(cpu->nmi && !cpu->masked);
	set_stop(&system);
}

static void
no_interleaving_goes_wrong(void **state)
{
	static const struct fake_cpu *const shapes[] = { &skylake, &ice_lake,
		&nehalem };

	(void)state;
	for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		for (uint64_t n = 1; n <= LONGEST; n++) {
			for (unsigned late = 0; late <= LATEST; late++)
				one_way(shapes[i], n, late);
		}
	}
}

/* What an overflow is that nobody is told of, the set goes on counting. */
static void
silent_overflows_stop_nothing(void **state)
{
	struct x86_set system;

	(void)state;
	begin(&skylake, 0);
	make(&system, 1000, SYSTEM);
	system.data[1] = -(uint64_t)WORK;
	set_start(&system);
	work(2 * WORK);
	assert_int_equal(struck, 1);
	assert_int_equal(cpu->handed, 1);
	assert_int_equal(set_stop(&system), 2);
	end();
	assert_int_equal(system.data[0] + 1000, system.data[1] + WORK);
	assert_true(system.data[1] > WORK);
}

/* Where PICs start one after the other, an early NMI stops the later ones. */
static void
one_by_one_they_all_stop(void **state)
{
	struct x86_set system;
	uint64_t was, overflowed;

	(void)state;
	for (uint64_t n = 1; n <= LONGEST; n++) {
		begin(&core_duo, 0);
		make(&system, n, SYSTEM);
		set_start(&system);
		work(WORK);
		if (struck > 0) {
			was = cpu->gp[1];
			work(WORK);
			assert_int_equal(cpu->gp[1], was);
		}
		overflowed = set_stop(&system);
		assert_int_equal(overflowed, struck);
		end();
		assert_int_equal(struck, (int64_t)system.data[0] >= 0);
		assert_false(x86_pic_nmi(0));
	}
}

/* What a profile's set counts in start, work and stop, as kcpc adds it up. */
static uint64_t
profiled(const struct fake_cpu *shape, uint64_t period)
{
	struct pcbe_nmi_log *pk;
	struct x86_set system;
	uint64_t events;

	begin(shape, 0);
	set_init(&system, ops);
	assert_int_equal(
	    set_add(&system, 0, EVENT, SYSTEM | NOTIFY, "", -period), 0);
	if (period != 0) {
		system.set.ps_urgent = 1U << 0;
		system.set.ps_resume = -period;
	}
	set_start(&system);
	work(WORK);
	set_stop(&system);
	end();
	pk = ops->nmi_log();
	events = pk->pk_n * period +
	         ((system.data[0] + period) & ((1ULL << cpu->width) - 1));
	/* Each left a note, but for one that struck the stop itself. */
	assert_int_equal(pk->pk_lost, 0);
	assert_true(struck - pk->pk_n <= 1);
	pk->pk_n = 0;
	return events;
}

/*
 * A set that counts on from a place of its own: each NMI is a period, and
 * what it counts of its own is not.
 */
static void
profiles_count_on(void **state)
{
	static const struct fake_cpu *const shapes[] = { &skylake, &nehalem,
		&core_duo };

	(void)state;
	for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		uint64_t all = profiled(shapes[i], 0);

		assert_true(all > WORK);
		for (uint64_t period = 1; period <= LONGEST; period++)
			assert_int_equal(profiled(shapes[i], period), all);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delivery_follows_the_set),
		cmocka_unit_test(foreign_nmis_are_told),
		cmocka_unit_test(one_stop_explains_two),
		cmocka_unit_test(no_interleaving_goes_wrong),
		cmocka_unit_test(silent_overflows_stop_nothing),
		cmocka_unit_test(one_by_one_they_all_stop),
		cmocka_unit_test(profiles_count_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
