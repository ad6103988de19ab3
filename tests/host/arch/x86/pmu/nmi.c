/* Overflows inside the kernel by NMIs, at any access to a register, or late. */
#include "arch/x86/pmu/pic.h"

#include "tests/lib/host/x86/intel_shapes.h"

#define EVENT   "0xc0"
#define WORK    20 /* instructions of the kernel between start and stop */
#define LATEST  12 /* most accesses by which an NMI is late */
#define LONGEST 60 /* more instructions than start, work and stop take */

/* The NMI under test: does it run, its delay and the accesses left. */
static bool in_nmi;
static unsigned nmi_delay, nmi_wait;
static unsigned nnmi;

static void
deliver_nmi(void)
{
	if (!cpu->nmi_pending || in_nmi)
		return;
	if (nmi_wait > 0) {
		nmi_wait--;
		return;
	}
	cpu->nmi_pending = false;
	nmi_wait = nmi_delay;
	in_nmi = true;
	nnmi++;
	assert_true(x86_pic_nmi(0));
	in_nmi = false;
}

/* An access counts as an instruction of the kernel. */
static void
retire_one(void)
{
	fake_run(1, false);
	deliver_nmi();
}

static void
run_kernel(unsigned n)
{
	while (n-- > 0)
		retire_one();
}

/* Instructions of the kernel or the program; the first notifies after n. */
static void
make_set(struct x86_set *s, uint64_t n, unsigned flags)
{
	set_init(s, ops);
	assert_int_equal(set_add(s, 0, EVENT, flags | NOTIFY, "", -n), 0);
	assert_int_equal(set_add(s, 1, EVENT, flags, "", 0), 0);
	s->set.ps_nmi_pics = (flags & SYSTEM) != 0 ? 1U << 0 : 0;
}

static void
begin_test(const struct fake_cpu *shape, unsigned late)
{
	boot(shape);
	nmi_delay = nmi_wait = late;
	nnmi = 0;
	fake_each = retire_one;
}

static void
end_test(void)
{
	fake_each = NULL;
}

/* CPC-OVF-02: the running set decides how the interrupt is delivered. */
TEST(delivery_follows_the_set)
{
	struct x86_set system, user;

	boot(&skylake);
	make_set(&system, 1000, SYSTEM);
	make_set(&user, 1000, USER);
	set_start(&user);
	assert_false(cpu->nmi);
	set_stop(&user);
	set_start(&system);
	assert_true(cpu->nmi);
	set_stop(&system);
	/* The delivery stays as it is: it is not written again. */
	cpu->nmi = false;
	set_start(&system);
	assert_false(cpu->nmi);
	set_stop(&system);
	cpu->nmi = true;
	set_start(&user);
	assert_false(cpu->nmi);
	set_stop(&user);
}

/* An NMI from another source is not reported as an overflow. */
TEST(foreign_nmis_are_recognised)
{
	struct x86_set system, user;

	boot(&skylake);
	assert_false(x86_pic_nmi(0));
	make_set(&system, 1000, SYSTEM);
	make_set(&user, 1, USER);
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
 * Two NMIs and one stop.  The first NMI interrupted a payload and waits for
 * the kernel lock.  The second NMI interrupts that wait.  A cross-call of
 * another CPU then stops the set.  The first NMI finds no overflow and is not
 * late; it sees that an overflow was found.
 */
TEST(one_stop_for_two_nmis)
{
	struct x86_set system;

	boot(&skylake);
	make_set(&system, 1, SYSTEM);
	set_start(&system);
	uint32_t found = x86_pic_nmi_found();
	fake_run(2, false);
	assert_true(x86_pic_nmi(0));
	assert_int_equal(set_stop(&system), 1);
	assert_false(x86_pic_nmi_late());
	assert_int_equal(x86_pic_nmi_found(), found + 1);
}

/* Run the set, with an overflow somewhere; then another set, without one. */
static void
run_two_sets(const struct fake_cpu *shape, uint64_t n, unsigned late)
{
	struct x86_set system, user;

	begin_test(shape, late);
	make_set(&system, n, SYSTEM);
	make_set(&user, 1000, USER);
	set_start(&system);
	run_kernel(WORK);
	uint64_t overflowed = set_stop(&system);
	set_start(&user);
	run_kernel(WORK);
	fake_run(10, true);
	assert_int_equal(set_stop(&user), 0);
	end_test();

	/* An overflow is reported once, to the set that overflowed. */
	assert_int_equal(overflowed, (int64_t)system.data[0] >= 0);
	/* No instruction is lost or counted twice. */
	assert_int_equal(system.data[0] + n, system.data[1]);
	assert_int_equal(user.data[1], 10);
	/* The NMI stops the PICs at once: its first accesses count. */
	if (late == 0 && overflowed != 0)
		assert_true(system.data[0] <= 4);
	/* Each overflow has one NMI. */
	assert_int_equal(nnmi, overflowed);
	assert_int_equal(cpu->handed + cpu->late, nnmi);
	assert_false(cpu->nmi);
	assert_false(x86_pic_nmi(0));
	/* The next overflow can interrupt. */
	set_start(&system);
	assert_true(cpu->nmi && !cpu->masked);
	set_stop(&system);
}

TEST(every_interleaving_is_right)
{
	static const struct fake_cpu *const shapes[] = { &skylake, &ice_lake,
		&nehalem };

	for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		for (uint64_t n = 1; n <= LONGEST; n++) {
			for (unsigned late = 0; late <= LATEST; late++)
				run_two_sets(shapes[i], n, late);
		}
	}
}

/* After an overflow without notification, the set continues to count. */
TEST(silent_overflows_do_not_stop_a_set)
{
	struct x86_set system;

	begin_test(&skylake, 0);
	make_set(&system, 1000, SYSTEM);
	system.data[1] = -(uint64_t)WORK;
	set_start(&system);
	run_kernel(2 * WORK);
	assert_int_equal(nnmi, 1);
	assert_int_equal(cpu->handed, 1);
	assert_int_equal(set_stop(&system), 2);
	end_test();
	assert_int_equal(system.data[0] + 1000, system.data[1] + WORK);
	assert_true(system.data[1] > WORK);
}

/* If PICs start one by one, an early NMI also stops the later ones. */
TEST(early_nmi_stops_later_pics)
{
	struct x86_set system;
	uint64_t was, overflowed;

	for (uint64_t n = 1; n <= LONGEST; n++) {
		begin_test(&core_duo, 0);
		make_set(&system, n, SYSTEM);
		set_start(&system);
		run_kernel(WORK);
		if (nnmi > 0) {
			was = cpu->gp[1];
			run_kernel(WORK);
			assert_int_equal(cpu->gp[1], was);
		}
		overflowed = set_stop(&system);
		assert_int_equal(overflowed, nnmi);
		end_test();
		assert_int_equal(nnmi, (int64_t)system.data[0] >= 0);
		assert_false(x86_pic_nmi(0));
	}
}

/* The events of start, work and stop of a profile, added up as kcpc does. */
static uint64_t
count_profile(const struct fake_cpu *shape, uint64_t period)
{
	struct x86_set system;

	begin_test(shape, 0);
	set_init(&system, ops);
	assert_int_equal(
	    set_add(&system, 0, EVENT, SYSTEM | NOTIFY, "", -period), 0);
	if (period != 0) {
		system.set.ps_nmi_pics = 1U << 0;
		system.set.ps_nmi_reload = -period;
	}
	set_start(&system);
	run_kernel(WORK);
	set_stop(&system);
	end_test();
	struct pcbe_nmi_log *pk = ops->nmi_log();
	uint64_t events = pk->pk_n * period + ((system.data[0] + period) &
						  ((1ULL << cpu->width) - 1));
	/* Each NMI left an entry, but one that interrupted the stop. */
	assert_int_equal(pk->pk_lost, 0);
	assert_true(nnmi - pk->pk_n <= 1);
	pk->pk_n = 0;
	return events;
}

/* A profile's set resumes at its preset: each NMI is one uncounted period. */
TEST(profiles_lose_nothing)
{
	static const struct fake_cpu *const shapes[] = { &skylake, &nehalem,
		&core_duo };

	for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		uint64_t all = count_profile(shapes[i], 0);

		assert_true(all > WORK);
		for (uint64_t period = 1; period <= LONGEST; period++)
			assert_int_equal(count_profile(shapes[i], period), all);
	}
}

/* Two profiles with one PIC and period keep their own events after an NMI. */
TEST(profiles_keep_their_events)
{
	static const struct fake_cpu *const shapes[] = { &skylake, &core_duo };
	static const char *const events[] = { EVENT, "0x3c" };
	struct x86_set profile[2];

	for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		boot(shapes[i]);
		for (unsigned n = 0; n < 2; n++) {
			set_init(&profile[n], ops);
			assert_int_equal(set_add(&profile[n], 0, events[n],
					     SYSTEM | NOTIFY, "", -1000ULL),
			    0);
			profile[n].set.ps_nmi_pics = 1U << 0;
			profile[n].set.ps_nmi_reload = -1000ULL;
		}
		for (unsigned n = 0; n < 4; n++) {
			struct x86_set *s = &profile[n % 2];

			set_start(s);
			fake_run(1000, false);
			cpu->nmi_pending = false;
			assert_true(x86_pic_nmi(0));
			assert_int_equal(cpu->sel[0], s->cfg[0].pc_sel);
			set_stop(s);
		}
	}
}

/*
 * The NMI of an overflow that stop() found may come while the next set starts.
 * That set has the same event selects and starts from 0, below the value at
 * which the first set stopped.  The NMI does not stop the second set.
 */
TEST(late_nmi_spares_the_next_set)
{
	static const struct fake_cpu *const shapes[] = { &skylake, &core_duo };
	struct x86_set first, second;

	for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		for (unsigned late = 0; late <= 2 * WORK; late++) {
			begin_test(shapes[i], late);
			make_set(&first, WORK, SYSTEM);
			make_set(&second, 0, SYSTEM);
			set_start(&first);
			run_kernel(WORK);
			set_stop(&first);
			set_start(&second);
			run_kernel(2 * WORK);
			assert_int_equal(set_stop(&second), 0);
			end_test();
			assert_true(second.data[1] >= 2 * WORK);
		}
	}
}
