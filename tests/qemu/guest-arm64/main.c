/*
 * Tests of the arm64 patches on bare metal.  The overflow interrupt of an
 * event counter comes at the instruction that wraps the counter.  Each CPU
 * counts its own instructions.  Needs PMUv3, GICv3, and QEMU's virt machine.
 */
#include <stdint.h>

#define UART         (*(volatile uint32_t *)0x09000000)
#define GICD         0x08000000ull
#define GICR(cpu)    (0x080a0000ull + 0x20000ull * (cpu))
#define REG(address) (*(volatile uint32_t *)(address))

#define PPI_PMU      23
#define PPI_TIMER    27
#define INST_RETIRED 0x08
#define PMCR_E       1u
#define PMCR_LP      (1u << 7)
#define ALL_COUNTERS 0xffffffffu
#define NCOUNTERS    6

#define READ(name)                                                             \
	({                                                                     \
		uint64_t v_;                                                   \
		__asm__ volatile("mrs %0, " #name : "=r"(v_));                 \
		v_;                                                            \
	})
#define WRITE(name, value)                                                     \
	__asm__ volatile("msr " #name ", %0\n\tisb"                            \
			 :                                                     \
			 : "r"((uint64_t)(value))                              \
			 : "memory")

uint64_t run_loop(uint64_t counters, uint64_t n);
uint64_t run_yield(uint64_t counters, uint64_t n);
void run_nops(uint64_t counters);
void run_wfi(uint64_t counters);
void ap_start(void);
extern char run_nops_body[];
void main(void);
void ap_main(void);
void irq(uint64_t elr);
void fault(uint64_t esr, uint64_t elr);

static unsigned ntests;
static volatile unsigned hits, ticks;
static volatile uint64_t hit_elr, hit_status;
static volatile uint64_t missing, elsewhere, unclear;
static volatile unsigned turn;
static volatile uint64_t ap_count;

static void
put(const char *s)
{
	while (*s != '\0')
		UART = (uint8_t)*s++;
}

static void
put_number(uint64_t n)
{
	char buf[24], *p = &buf[sizeof(buf) - 1];

	*p = '\0';
	do {
		*--p = (char)('0' + n % 10);
	} while ((n /= 10) != 0);
	put(p);
}

static void
check(const char *name, uint64_t got, uint64_t want)
{
	put(got == want ? "ok " : "not ok ");
	put_number(++ntests);
	put(" - ");
	put(name);
	put("\n");
	if (got != want) {
		put("# expected ");
		put_number(want);
		put(", got ");
		put_number(got);
		put("\n");
	}
}

static uint64_t
psci(uint64_t function, uint64_t a, uint64_t b)
{
	register uint64_t x0 __asm__("x0") = function;
	register uint64_t x1 __asm__("x1") = a;
	register uint64_t x2 __asm__("x2") = b;
	register uint64_t x3 __asm__("x3") = 0;

	__asm__ volatile("hvc #0"
			 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
			 :
			 : "memory");
	return x0;
}

void
fault(uint64_t esr, uint64_t elr)
{
	put("Bail out! ESR ");
	put_number(esr);
	put(" at ");
	put_number(elr);
	put("\n");
	psci(0x84000008, 0, 0); /* SYSTEM_OFF */
}

void
irq(uint64_t elr)
{
	uint64_t intid = READ(s3_0_c12_c12_0); /* ICC_IAR1_EL1 */

	if (intid == PPI_PMU) {
		hits++;
		hit_elr = elr;
		hit_status = READ(pmovsclr_el0);
		WRITE(pmcntenclr_el0, ALL_COUNTERS);
		WRITE(pmovsclr_el0, ALL_COUNTERS);
	} else if (intid == PPI_TIMER) {
		ticks++;
		WRITE(cntv_ctl_el0, 0);
	}
	WRITE(s3_0_c12_c12_1, intid); /* ICC_EOIR1_EL1 */
}

/* Arm IHI 0069, "GICv3 programmers' model": group 1, one priority */
static void
gic_init(unsigned cpu)
{
	uint64_t sgi = GICR(cpu) + 0x10000;

	REG(GICD) = 0x12;          /* affinity routing, group 1 */
	REG(GICR(cpu) + 0x14) = 0; /* awake */
	while ((REG(GICR(cpu) + 0x14) & 4) != 0)
		;
	REG(sgi + 0x80) = ALL_COUNTERS;
	REG(sgi + 0x100) = 1u << PPI_PMU | 1u << PPI_TIMER;
	WRITE(s3_0_c12_c12_5, 7);  /* ICC_SRE_EL1 */
	WRITE(s3_0_c4_c6_0, 0xff); /* ICC_PMR_EL1 */
	WRITE(s3_0_c12_c12_7, 1);  /* ICC_IGRPEN1_EL1 */
}

static void
pmu_init(void)
{
	WRITE(pmcr_el0, PMCR_E);
	WRITE(pmcntenclr_el0, ALL_COUNTERS);
	WRITE(pmintenclr_el1, ALL_COUNTERS);
	WRITE(pmovsclr_el0, ALL_COUNTERS);
}

static void
setup_counter(unsigned counter, uint64_t preset)
{
	WRITE(pmselr_el0, counter);
	WRITE(pmxevtyper_el0, INST_RETIRED);
	WRITE(pmxevcntr_el0, preset);
	WRITE(pmintenset_el1, 1ull << counter);
}

static uint64_t
count_run(uint64_t (*run)(uint64_t counters, uint64_t n), uint64_t n)
{
	setup_counter(0, 0);
	uint64_t result = run(1, n);
	WRITE(pmcntenclr_el0, ALL_COUNTERS);
	return result;
}

/* Overflow 1 to 20 instructions after the start, on each counter */
static void
overflow_all(uint64_t extra)
{
	missing = elsewhere = unclear = 0;
	for (unsigned c = 0; c < NCOUNTERS; c++) {
		for (uint64_t k = 1; k <= 20; k++) {
			pmu_init();
			WRITE(pmcr_el0, PMCR_E | extra);
			setup_counter(c, extra != 0 ? -k : (uint32_t)-k);
			hits = 0;
			__asm__ volatile("msr daifclr, #2");
			run_nops(1ull << c);
			__asm__ volatile("msr daifset, #2");
			missing += hits != 1;
			elsewhere += hits == 1 &&
			             hit_elr != (uint64_t)run_nops_body + 4 * k;
			unclear += hits == 1 && hit_status != 1ull << c;
		}
	}
}

static void
test_position(const char *name, uint64_t extra)
{
	put("# ");
	put(name);
	put("\n");
	overflow_all(extra);
	check("interrupts missing, k = 1..20, all counters", missing, 0);
	check("interrupts not at body + k", elsewhere, 0);
	check("interrupts with the status of another counter", unclear, 0);
}

static void
test_halted(void)
{
	pmu_init();
	hits = 0;
	ticks = 0;
	setup_counter(0, (uint32_t)-60);
	WRITE(cntv_tval_el0, READ(cntfrq_el0) / 20);
	WRITE(cntv_ctl_el0, 1);
	run_wfi(1);
	check("halted for 50 ms: one tick", ticks, 1);
	check("halted for 50 ms: one overflow", hits, 1);
	pmu_init();
}

static void
wait_for(unsigned want)
{
	while (turn < want)
		__asm__ volatile("yield");
}

void
ap_main(void)
{
	gic_init(1);
	pmu_init();
	wait_for(1);
	turn = 2;
	ap_count = count_run(run_yield, 30000);
	turn = 3;
	overflow_all(0);
	turn = 4;
	for (;;)
		__asm__ volatile("wfi");
}

static void
test_two_cpus(void)
{
	pmu_init();
	if (psci(0xc4000003, 1, (uint64_t)ap_start) != 0) { /* CPU_ON */
		put("# one CPU only\n");
		return;
	}
	turn = 1;
	wait_for(2);
	uint64_t own = count_run(run_yield, 20000);
	wait_for(3);
	while (turn < 4) /* this CPU never yields */
		count_run(run_loop, 1000);
	check("two CPUs, the first counts its own", own, 3 * 20000 + 2);
	check("two CPUs, the second counts its own", ap_count, 3 * 30000 + 2);
	check("second CPU: interrupts missing", missing, 0);
	check("second CPU: interrupts not at body + k", elsewhere, 0);
}

void
main(void)
{
	put("TAP version 13\n");
	gic_init(0);
	pmu_init();
	check("loop of 1000", count_run(run_loop, 1000), 2002);
	check("loop of 1000000", count_run(run_loop, 1000000), 2000002);
	test_position("32-bit counters", 0);
	if ((READ(id_aa64dfr0_el1) >> 8 & 0xf) >= 6)
		test_position("64-bit counters", PMCR_LP);
	test_halted();
	test_two_cpus();
	put("1..");
	put_number(ntests);
	put("\n");
	psci(0x84000008, 0, 0); /* SYSTEM_OFF */
}
