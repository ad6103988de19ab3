/*
 * Sets on the PMUv3 backend, as kcpc would make and run them.  Included by
 * the tests of arch/arm64/pmuv3_*.c.
 */
#ifndef TESTS_LIB_HOST_PMUV3_SET_H
#define TESTS_LIB_HOST_PMUV3_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/lib/host/fake_pmu.h"
#include "tests/lib/host/support.h"

#include "arch/arm64/pmu/pmuv3_impl.h"
#include "arch/arm64/pmu/regs.h"
#include "kern/cpc/kcpc_impl.h"

/* INST_RETIRED and CPU_CYCLES, as QEMU's models have them. */
#define CEID0_QEMU 0x20101ULL

extern const struct fake_shape shape_v3p5; /* QEMU's -cpu max, mended */

/* Both CPUs as kcpc finds them at boot, EL2 not ours. */
void boot(const struct fake_shape *shape);
/* The same, with the overflow interrupt proved as at boot. */
enum pmuv3_overflow boot_proved(const struct fake_shape *shape);
/* No PIC runs, no user read is open, no write is uncertain. */
int fixture_down(void **state);
#define T(fn) cmocka_unit_test_teardown(fn, fixture_down)

struct set {
	struct pcbe_set set;
	struct cpc_sample sample;
	uint64_t data[PCBE_MAXPIC]; /* its values: the counts, by request */
	struct pcbe_cfg cfg[PCBE_MAXPIC];
	struct cpc_page page;
	struct cpc_page_req reqs[PCBE_MAXPIC]; /* the page's */
};

/* An empty set over these PICs; the rest is spare. */
void set_init(struct set *s, uint32_t pics);
/*
 * The next request, on that PIC, from that count on; CPC_* flags, those of
 * overflow, too.  0 or a subcode.
 */
int set_add(struct set *s, const char *event, unsigned pic, unsigned flags,
    uint64_t from);
/* One request that must be accepted. */
void set_one(struct set *s, const char *event, unsigned pic, unsigned flags,
    uint64_t from);
/* From data[]. */
void set_start(struct set *s);
/* Bring data[] up to now, while it runs, or with its end.  What overflowed. */
void set_sample(struct set *s);
uint64_t set_stop(struct set *s);
void set_free(struct set *s);

#endif /* TESTS_LIB_HOST_PMUV3_SET_H */
