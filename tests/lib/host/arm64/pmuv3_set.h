/* Sets on the PMUv3 backend, as kcpc does it.  Included by its tests. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tests/lib/host/arm64/fake_pmu.h"
#include "tests/lib/host/support.h"

#include "arch/arm64/pmu/pmuv3_impl.h"
#include "arch/arm64/pmu/regs.h"
#include "kern/cpc/kcpc_impl.h"

/* INST_RETIRED and CPU_CYCLES, at their bits in QEMU's models. */
#define CEID0_QEMU 0x20101ULL

/* MIDR_EL1: QEMU's -cpu max, which has no table; Cortex-A55; Cortex-A76. */
#define MIDR_EMULATED 0x000f0510ULL
#define MIDR_A55      0x411fd050ULL
#define MIDR_A76      0x414fd0b0ULL

extern const struct fake_shape shape_v3p5; /* QEMU's -cpu max, patched */
/* The same with this PMUVer and number of counters. */
struct fake_shape shape_of(unsigned version, unsigned nevent);

/* Initialise both CPUs as kcpc does at boot.  EL2 is not ours. */
void boot(const struct fake_shape *shape);
/* The same, and prove the overflow interrupt as at boot. */
enum pmuv3_overflow boot_proved(const struct fake_shape *shape);
/* No PIC runs, EL0 cannot read a counter, and every write is certain. */
int fixture_down(void **state);
/* Define a test: PMUV3_TEST(name) { ... } */
#define PMUV3_TEST(name) TEST_WITH(name, NULL, fixture_down)

struct set {
	struct pcbe_set set;
	struct cpc_sample sample;
	uint64_t data[PCBE_MAXPIC]; /* the counts, by request */
	struct pcbe_cfg cfg[PCBE_MAXPIC];
	struct cpc_page page;
	struct cpc_page_req reqs[PCBE_MAXPIC]; /* the requests of the page */
};

/* An empty set on these PICs.  All other PICs are spare. */
void set_init(struct set *s, uint32_t pics);
/*
 * Add a request on PIC pic, with the count from as its preset.  The flags are
 * CPC_* flags, including those of overflow.  Returns 0 or a subcode.
 */
int set_add(struct set *s, const char *event, unsigned pic, unsigned flags,
    uint64_t from);
/* A set of one request, which must be accepted. */
void set_one(struct set *s, const char *event, unsigned pic, unsigned flags,
    uint64_t from);
/* Start to count from data[]. */
void set_start(struct set *s);
/* Update data[]; set_stop() also stops and returns what overflowed. */
void set_sample(struct set *s);
uint64_t set_stop(struct set *s);
uint64_t set_run(struct set *s, uint64_t n); /* count n instructions */
