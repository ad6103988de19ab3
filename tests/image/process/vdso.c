/* The vDSO reads the clock without the kernel, and agrees with it. */
#include "tests/lib/image/cpc_test.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(4); /* the allocator of the C library */

typedef int gettime_fn(clockid_t, struct timespec *);

/* Look up a function as C libraries do: by the hash table's symbol count. */
static void *
vdso_function(const char *name)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *eh = (const void *)base;
	const Elf64_Phdr *ph = (const void *)(base + eh->e_phoff);
	const Elf64_Sym *syms = NULL;
	const char *strings = NULL;
	const uint32_t *hash = NULL;

	for (unsigned i = 0; i < eh->e_phnum; i++) {
		const Elf64_Dyn *d = (const void *)(base + ph[i].p_vaddr);

		for (; ph[i].p_type == PT_DYNAMIC && d->d_tag != DT_NULL; d++) {
			const void *at = base + d->d_un.d_ptr;

			if (d->d_tag == DT_SYMTAB)
				syms = at;
			else if (d->d_tag == DT_STRTAB)
				strings = at;
			else if (d->d_tag == DT_HASH)
				hash = at;
		}
	}
	for (unsigned i = 0; hash != NULL && i < hash[1]; i++) {
		if (strcmp(strings + syms[i].st_name, name) == 0)
			return (void *)(base + syms[i].st_value);
	}
	return NULL;
}

static gettime_fn *
vdso_gettime(void)
{
	gettime_fn *fn = vdso_function("__vdso_clock_gettime");

	return fn != NULL ? fn : vdso_function("__kernel_clock_gettime");
}

static int64_t
ns_of(const struct timespec *ts)
{
	EXPECT(ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000);
	return ts->tv_sec * 1000000000 + ts->tv_nsec;
}

TEST(it_agrees_with_the_kernel)
{
	static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC,
		CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME };
	gettime_fn *fn = vdso_gettime();
	struct timespec before, between, after;

	REQUIRE(fn != NULL);
	for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++) {
		syscall(SYS_clock_gettime, clocks[i], &before);
		EXPECT_EQ(fn(clocks[i], &between), 0);
		syscall(SYS_clock_gettime, clocks[i], &after);
		EXPECT(ns_of(&before) <= ns_of(&between));
		EXPECT(ns_of(&between) <= ns_of(&after));
	}
}

TEST(what_only_the_kernel_knows_is_asked_there)
{
	gettime_fn *fn = vdso_gettime();
	struct timespec ts = { -1, -1 };

	REQUIRE(fn != NULL);
	EXPECT_EQ(fn(CLOCK_THREAD_CPUTIME_ID, &ts), 0);
	EXPECT(ns_of(&ts) >= 0);
	EXPECT_EQ(fn(12345, &ts), -EINVAL);
	EXPECT_EQ(fn(-1, &ts), -EINVAL);
}

TEST(the_other_functions)
{
	gettime_fn *res = vdso_function("__vdso_clock_getres");
	int (*day)(struct timeval *, void *) =
	    vdso_function("__vdso_gettimeofday");
	struct timespec a, b;
	struct timeval tv;

	if (res == NULL)
		res = vdso_function("__kernel_clock_getres");
	if (day == NULL)
		day = vdso_function("__kernel_gettimeofday");
	REQUIRE(res != NULL && day != NULL);
	EXPECT_EQ(res(CLOCK_MONOTONIC, &a), 0);
	EXPECT_EQ(syscall(SYS_clock_getres, CLOCK_MONOTONIC, &b), 0);
	EXPECT_EQ(ns_of(&a), ns_of(&b));
	EXPECT_EQ(day(&tv, NULL), 0);
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &a);
	EXPECT(tv.tv_sec * 1000000 + tv.tv_usec <= ns_of(&a) / 1000);
	EXPECT(tv.tv_sec * 1000000 + tv.tv_usec >= ns_of(&a) / 1000 - 1000000);
}

/* The C library uses it: the kernel retires nothing. */
CPC_TEST(the_kernel_retires_nothing)
{
	cpc_set_t *set = cpc_set_create(cpc);
	struct timespec ts;
	uint64_t kernel = ~0ULL;

	REQUIRE(set != NULL);
	if (own_privilege() != CPC_COUNT_USER ||
	    !have_event(cpc, "PAPI_tot_ins"))
		SKIP("this needs user privilege and counted instructions");
	int i = cpc_set_add_request(
	    cpc, set, "PAPI_tot_ins", 0, CPC_COUNT_SYSTEM, 0, NULL);
	REQUIRE(i >= 0);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	clock_gettime(CLOCK_MONOTONIC, &ts); /* the library finds the vDSO */
	REQUIRE(cpc_bind_curlwp(cpc, set, 0) == 0);
	for (unsigned turn = 0; turn < 10; turn++) {
		uint64_t v[3];

		cpc_set_sample(cpc, set, buf);
		cpc_buf_get(cpc, buf, i, &v[0]);
		cpc_set_sample(cpc, set, buf);
		cpc_buf_get(cpc, buf, i, &v[1]);
		for (unsigned n = 0; n < 100; n++)
			clock_gettime(CLOCK_MONOTONIC, &ts);
		cpc_set_sample(cpc, set, buf);
		cpc_buf_get(cpc, buf, i, &v[2]);
		/* Subtract what a sample itself costs the kernel. */
		if (v[2] - v[1] - (v[1] - v[0]) < kernel)
			kernel = v[2] - v[1] - (v[1] - v[0]);
	}
	EXPECT_EQ(kernel, 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(cpc_buf_destroy(cpc, buf), 0);
	EXPECT_EQ(cpc_set_destroy(cpc, set), 0);
}

TEST(it_cannot_be_written)
{
	char *code = (char *)getauxval(AT_SYSINFO_EHDR);

	EXPECT(memcmp(code, ELFMAG, SELFMAG) == 0);
	EXPECT_ERRNO(mprotect(code, 4096, PROT_READ | PROT_WRITE), EACCES);
	EXPECT_ERRNO(
	    mprotect(code - 4096, 4096, PROT_READ | PROT_WRITE), EACCES);
}

TEST(a_child_has_it)
{
	struct timespec ts;
	pid_t pid = fork();

	if (pid == 0)
		_exit(vdso_gettime()(CLOCK_MONOTONIC, &ts));
	EXPECT_EQ(test_wait_status(pid), 0);
}
