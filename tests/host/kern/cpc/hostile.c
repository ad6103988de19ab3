/* Whatever a program passes to the system call: the right errno, no harm. */
#include "tests/lib/host/kcpc/host.h"

#include <stdlib.h>
#include <string.h>

#include "kern/cpc/kcpc.h"

#define BAD 8UL /* an address where nothing is mapped */

static intptr_t
call(uintptr_t op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	const uintptr_t args[6] = { op, a, b, c, d };

	return kcpc_syscall(args);
}

static struct {
	struct cpc_pack head;
	struct cpc_packreq req[2];
	char room[CPC_MAX_PACK_BYTES]; /* which the kernel may copy */
} good;

/* Make a pack that binds. */
static void
make_good(void)
{
	memset(&good, 0, sizeof good);
	good.head.cp_set = 77;
	good.head.cp_nreqs = 2;
	for (unsigned i = 0; i < 2; i++) {
		good.req[i].cr_event = (struct cpc_event){ .ce_pics = 0xf,
			.ce_code = SOFT_CODE(SOFT_CYCLES) };
		good.req[i].cr_flags = CPC_COUNT_USER;
		good.req[i].cr_picnum = -1;
	}
}

static struct cpc_refusal refusal;

static intptr_t
bind_pack(void)
{
	return call(CPC_OP_BIND, (uintptr_t)&good, 77, 0, (uintptr_t)&refusal);
}

CPC_TEST(unknown_operations_are_einval)
{
	for (uintptr_t op = 0; op < 256; op++) {
		if (op == CPC_OP_LWP_SELF || op == CPC_OP_LIVE ||
		    op == CPC_OP_UNRESOLVED || op == CPC_OP_ACCESS ||
		    (op >= CPC_OP_IMPL_NAME && op <= CPC_OP_CAPS))
			continue;
		assert_true(call(op, 0, 0, 0, 0) < 0);
	}
	assert_int_equal(call(UINTPTR_MAX, 0, 0, 0, 0), -EINVAL);
	assert_int_equal(call(0x100000000, 0, 0, 0, 0), -EINVAL);
}

CPC_TEST(bad_addresses_are_efault)
{
	make_good();
	assert_int_equal(call(CPC_OP_BIND, BAD, 77, 0, 0), -EFAULT);
	assert_int_equal(call(CPC_OP_IMPL_NAME, 0, BAD, 100, 0), -EFAULT);
	assert_int_equal(call(CPC_OP_PMU, BAD, 0, 0, 0), -EFAULT);
	assert_int_equal(bind_pack(), 0);
	assert_int_equal(call(CPC_OP_SAMPLE, 77, BAD, 2, 0), -EFAULT);
	assert_int_equal(call(CPC_OP_WHERE, 77, 0, BAD, 0), -EFAULT);
	/* A subcode, but a bad address to store it. */
	good.req[0].cr_flags = 0x20;
	assert_int_equal(
	    call(CPC_OP_BIND, (uintptr_t)&good, 77, 0, BAD), -EFAULT);
}

CPC_TEST(sizes_that_do_not_fit_are_einval)
{
	make_good();
	good.head.cp_nreqs = 0;
	assert_int_equal(bind_pack(), -EINVAL);
	good.head.cp_nreqs = UINT16_MAX;
	assert_int_equal(bind_pack(), -EINVAL);
	good.head.cp_nreqs = 2;
	good.head.cp_nattrs = UINT32_MAX;
	assert_int_equal(bind_pack(), -EINVAL);
	good.head.cp_nattrs = 0;
	good.head.cp_nreqs = 2;
	good.head.cp_type = 1; /* no such core type */
	assert_int_equal(bind_pack(), -EINVAL);
	good.head.cp_type = UINT16_MAX;
	assert_int_equal(bind_pack(), -EINVAL);
	good.head.cp_type = 0;
	good.req[0].cr_nattrs = UINT32_MAX;
	assert_int_equal(bind_pack(), -EINVAL);
	good.req[0].cr_nattrs = 0;
	good.req[1].cr_nattrs = 1;
	assert_int_equal(bind_pack(), -EINVAL);
	good.req[1].cr_attr = UINT32_MAX;
	assert_int_equal(bind_pack(), -EINVAL);
	good.req[1].cr_nattrs = 0;
	assert_int_equal(bind_pack(), -EINVAL);
	good.head.cp_nattrs = 1;
	good.req[1].cr_attr = 1;
	assert_int_equal(bind_pack(), 0); /* none, after the last */
	good.req[1].cr_nattrs = 1;
	assert_int_equal(bind_pack(), -EINVAL);
	make_good();
	assert_int_equal(bind_pack(), 0);
	assert_int_equal(
	    call(CPC_OP_SAMPLE, 77, (uintptr_t)&good, 3, 0), -EINVAL);
}

/* A sample needs a buffer of exactly the set's size. */
CPC_TEST(samples_do_not_overrun)
{
	uint64_t room[4] = { 0, 0, 0, 42 };

	make_good();
	assert_int_equal(bind_pack(), 0);
	assert_int_equal(
	    call(CPC_OP_SAMPLE, 77, (uintptr_t)room, 1, 0), -EINVAL);
	assert_int_equal(
	    call(CPC_OP_SAMPLE, 77, (uintptr_t)room, 3, 0), -EINVAL);
	assert_int_equal(room[3], 42);
	assert_int_equal(call(CPC_OP_SAMPLE, 77, (uintptr_t)room, 2, 0), 0);
}

/* libcpc never passes these values. */
CPC_TEST(the_kernel_repeats_libcpcs_checks)
{
	make_good();
	good.head.cp_set = 0;
	assert_int_equal(bind_pack(), -ESTALE);
	assert_int_equal(call(CPC_OP_BIND, (uintptr_t)&good, 0, 0, 0), -EINVAL);
	good.head.cp_set = 78;
	assert_int_equal(bind_pack(), -ESTALE);
	make_good();
	good.req[1].cr_flags = 0x40;
	assert_int_equal(bind_pack(), -EINVAL);
	assert_int_equal(refusal.cf_subcode, CPC_REQ_INVALID_FLAGS);
	make_good();
	good.req[1].cr_picnum = 4;
	assert_int_equal(bind_pack(), -EINVAL);
	assert_int_equal(refusal.cf_subcode, CPC_INVALID_PICNUM);
	good.req[1].cr_picnum = -2;
	assert_int_equal(bind_pack(), -EINVAL);
	assert_int_equal(
	    call(CPC_OP_BIND, (uintptr_t)&good, 77, 2, 0), -EINVAL);
}

/* An event that claims PICs which do not exist. */
CPC_TEST(events_are_checked)
{
	make_good();
	good.req[0].cr_event.ce_pics = ~0U << 4;
	assert_int_equal(bind_pack(), -EINVAL);
	assert_int_equal(refusal.cf_subcode, CPC_RESOURCE_UNAVAIL);
	make_good();
	good.req[0].cr_event.ce_pics = ~0U;
	good.req[0].cr_event.ce_code = ~0U;
	assert_int_equal(bind_pack(), -EINVAL);
	assert_int_equal(refusal.cf_subcode, CPC_INVALID_EVENT);
}

CPC_TEST(attribute_ids_are_checked)
{
	struct {
		struct cpc_pack head;
		struct cpc_packreq req;
		struct cpc_packattr attr;
	} pack;
	const uint32_t ids[] = { CPC_ATTR_MSR_LDLAT, CPC_ATTR_IDS, 31,
		32 + CPC_ATTR_UMASK, UINT32_MAX };

	make_good();
	memset(&pack, 0, sizeof pack);
	pack.head = good.head;
	pack.head.cp_nreqs = 1;
	pack.head.cp_nattrs = 1;
	pack.req = good.req[0];
	pack.req.cr_nattrs = 1;
	for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++) {
		pack.attr.cpa_id = ids[i];
		assert_int_equal(call(CPC_OP_BIND, (uintptr_t)&pack, 77, 0,
				     (uintptr_t)&refusal),
		    -EINVAL);
		assert_int_equal(refusal.cf_subcode, CPC_INVALID_ATTRIBUTE);
	}
}

static uint64_t
sample_of_77(void)
{
	struct {
		struct cpc_sample head;
		uint64_t value[2];
	} s;

	assert_int_equal(call(CPC_OP_SAMPLE, 77, (uintptr_t)&s, 2, 0), 0);
	return s.value[0];
}

/* A modifier in the name (`:u`) overrides privilege flags, and no others. */
CPC_TEST(modifiers_override_the_flags)
{
	static const struct {
		uint32_t named, flags;
		uint64_t user, system;
	} cases[] = {
		{ CPC_COUNT_USER, CPC_COUNT_SYSTEM, 3, 0 },
		{ CPC_COUNT_SYSTEM, CPC_COUNT_USER, 0, 3 },
		{ CPC_COUNT_USER | CPC_COUNT_SYSTEM, 0, 3, 3 },
		{ 0, CPC_COUNT_USER, 0, 0 },
	};

	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		make_good();
		good.req[0].cr_flags = cases[i].flags;
		good.req[0].cr_event.ce_flags |=
		    CPC_EVENT_LEVELS | cases[i].named << CPC_EVENT_LEVEL_SHIFT;
		assert_int_equal(bind_pack(), 0);
		fake_user(1);
		assert_int_equal(sample_of_77(), cases[i].user);
		fake_system(1);
		assert_int_equal(
		    sample_of_77(), cases[i].user + cases[i].system);
	}
}

/* docs/design.md, `cpc_cpu=`: a modifier of the event asks for the mode. */
CPC_TEST(a_modifier_needs_the_privilege_for_hypervisor_mode)
{
	const uint32_t named = CPC_COUNT_USER | CPC_COUNT_HV;

	fake_privilege(0, false);
	make_good();
	good.req[0].cr_event.ce_flags |=
	    CPC_EVENT_LEVELS | named << CPC_EVENT_LEVEL_SHIFT;
	assert_int_equal(bind_pack(), -EACCES);
	fake_privilege(0, true);
	assert_int_equal(bind_pack(), 0);
}

CPC_TEST(set_0_names_nothing)
{
	make_good();
	assert_int_equal(bind_pack(), 0);
	assert_int_equal(
	    call(CPC_OP_SAMPLE, 0, (uintptr_t)&good, 2, 0), -EINVAL);
	assert_int_equal(call(CPC_OP_RELE, 0, 0, 0, 0), -EINVAL);
	assert_int_equal(call(CPC_OP_REVOKE, 0, 0, 0, 0), -EINVAL);
	assert_int_equal(call(CPC_OP_LIVE, 77, 0, 0, 0), 1);
}

/* A list has the same length with any buffer, and never overruns it. */
CPC_TEST(lists_are_cut_to_fit)
{
	intptr_t whole = call(CPC_OP_IMPL_NAME, 0, 0, 0, 0), n;
	char *text;

	assert_true(whole > 0);
	for (n = 0; n <= whole; n++) {
		text = malloc((size_t)n + 1); /* ASan checks its end */
		text[n] = '#';
		assert_int_equal(
		    call(CPC_OP_IMPL_NAME, 0, (uintptr_t)text, (uintptr_t)n, 0),
		    whole);
		assert_int_equal(text[n], '#');
		free(text);
	}
}

/* The operations that took event names are gone, their numbers unused. */
CPC_TEST(the_kernel_takes_no_names)
{
	static const unsigned gone[] = { 5, 7, 32, 46, 60, 61, 62 };
	char room[CPC_MAX_EVENT_LEN] = "cycles";

	for (unsigned i = 0; i < sizeof gone / sizeof gone[0]; i++)
		assert_int_equal(call(gone[i], (uintptr_t)room, (uintptr_t)room,
				     sizeof room, (uintptr_t)room),
		    -EINVAL);
}

/* Random packs cause an errno, never a crash.  The fixture finds leaks. */
CPC_TEST(random_packs_do_no_harm)
{
	const size_t bytes = (size_t)(good.room - (char *)&good) + 64;
	uint64_t seed = 88172645463325252ULL;
	unsigned round, i;
	intptr_t r;

	for (round = 0; round < 50000; round++) {
		make_good();
		for (i = 0; i < 1 + round % 3; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			((uint8_t *)&good)[seed % bytes] =
			    (uint8_t)(seed >> 32);
		}
		r = call(CPC_OP_BIND, (uintptr_t)&good, good.head.cp_set, 0,
		    (uintptr_t)&refusal);
		assert_true(r == 0 || r == -EINVAL || r == -ENOTSUP);
		fake_user(4);
	}
}
