/*
 * Included by the files of the emulator's own test image.  The image shares no
 * code with barecpc: the two must agree independently on what a PMU does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Registers: Intel SDM vol. 4; AMD64 APM vol. 2, "MSR Cross-Reference" */
#define IA32_PMC0                 0x0c1
#define IA32_PERFEVTSEL0          0x186
#define IA32_DEBUGCTL             0x1d9
#define IA32_FIXED_CTR0           0x309
#define IA32_PERF_CAPABILITIES    0x345
#define IA32_FIXED_CTR_CTRL       0x38d
#define IA32_PERF_GLOBAL_STATUS   0x38e
#define IA32_PERF_GLOBAL_CTRL     0x38f
#define IA32_PERF_GLOBAL_OVF_CTRL 0x390
#define IA32_PERF_GLOBAL_SET      0x391
#define IA32_PERF_GLOBAL_INUSE    0x392
#define IA32_A_PMC0               0x4c1
#define IA32_PERF_METRICS         0x329
#define IA32_PMC_GP0_CTR          0x1900 /* version 6: four MSRs each */
#define IA32_PMC_GP0_CFG_A        0x1901
#define IA32_PMC_FX0_CTR          0x1980
#define AMD_LEGACY_CTL0           0xc0010000
#define AMD_LEGACY_CTR0           0xc0010004
#define AMD_CORE_CTL0             0xc0010200
#define AMD_GLOBAL_STATUS         0xc0000300
#define AMD_GLOBAL_CTL            0xc0000301
#define AMD_GLOBAL_STATUS_CLR     0xc0000302
#define AMD_GLOBAL_STATUS_SET     0xc0000303

#define EVTSEL_USR       (1u << 16)
#define EVTSEL_OS        (1u << 17)
#define EVTSEL_EDGE      (1u << 18)
#define EVTSEL_INT       (1u << 20)
#define EVTSEL_ANY       (1u << 21)
#define EVTSEL_EN        (1u << 22)
#define EVTSEL_INV       (1u << 23)
#define EVTSEL_CMASK(n)  ((uint32_t)(n) << 24)
#define EVTSEL_EQ        (1ull << 36)
#define EVTSEL_UMASK2(n) ((uint64_t)(n) << 40)
#define SLOTS_WIDE       8 /* slots of a cycle */

#define FIXED(n)     (1ull << (32 + (n)))
#define WIDTH_MASK   ((1ull << 48) - 1)
#define VECTOR_PMI   0x40
#define VECTOR_TIMER 0x41

/* The first four are those of Intel's fixed counters. */
enum event { INSTRUCTIONS, CYCLES, REFERENCE, SLOTS, BRANCHES };

/* The PMU of this machine, by CPUID */
struct pmu {
	bool intel;
	unsigned version; /* Intel 1-6; AMD 0 legacy, 1 core, 2 PerfMonV2 */
	unsigned ngp;
	unsigned nfixed;
	bool global;         /* one register starts and stops all counters */
	bool amd_freezes;    /* at an overflow that interrupts */
	unsigned shift, cpi; /* from the command line */
};
extern struct pmu pmu;

/* The register write that starts a counter */
struct start {
	uint32_t msr;
	uint64_t value;
};

typedef uint64_t body_fn(
    uint32_t msr, uint32_t lo, uint32_t hi, uint32_t index, uint32_t n);

/* guest.c: the console, in TAP */
void put(const char *s);
void put_number(uint64_t n);
void put_hex(uint64_t n);
void check(const char *name, uint64_t got, uint64_t want);
void skip(const char *name, const char *why);
void finish(void);
bool word(const char *cmdline, const char *name, uint64_t *value);

/* guest.c: the CPU */
void outb(uint16_t port, uint8_t value);
uint32_t cpuid(uint32_t leaf, uint32_t *b, uint32_t *c, uint32_t *d);
uint32_t cpuid_subleaf(
    uint32_t leaf, uint32_t n, uint32_t *b, uint32_t *c, uint32_t *d);
uint64_t rdmsr(uint32_t msr);
void wrmsr(uint32_t msr, uint64_t value);
bool rdmsr_faults(uint32_t msr);
bool wrmsr_faults(uint32_t msr, uint64_t value);
bool rdpmc_faults(uint32_t index);
void gate(unsigned vector, void (*entry)(void), unsigned dpl);
void load_idt(void);
uint32_t lapic_read(unsigned reg);
void lapic_write(unsigned reg, uint32_t value);

/* pmu.c: counters 0..ngp-1 are general, ngp.. fixed */
void pmu_identify(void);
unsigned pmu_ncounters(void);
uint64_t pmu_code(enum event e);
bool pmu_can(unsigned counter, enum event e);
uint32_t pmu_select_msr(unsigned counter);
uint32_t pmu_counter_msr(unsigned counter);
uint32_t pmu_index(unsigned counter);
uint64_t pmu_status(void);
uint64_t pmu_status_bit(unsigned counter);
void pmu_clear_status(void);
void pmu_stop(void);
struct start pmu_setup(
    unsigned counter, enum event e, uint64_t flags, uint64_t preset);
uint64_t pmu_run(
    body_fn *body, unsigned counter, enum event e, uint64_t flags, uint32_t n);
uint64_t pmu_read(unsigned counter);

/* The tests */
void test_counts(void);
void test_modes(void);
void test_registers(void);
void test_interrupts(void);
void test_two_cpus(void);
void test_oracle(void);
void test_clock(void);
void test_migration(void);
void test_svm(void);
uint64_t interrupts_misplaced(uint32_t lvt);

/* start.S and bodies.S */
void skip_fault(void);
void skip_fault_code(void);
void nmi_entry(void);
void pmi_entry(void);
void timer_entry(void);
void user_return(void);
void user_rdpmc_return(void);
