/*
 * Services of barecpc outside Linux's system calls and libcpc.  Included by
 * payloads, in C or C++.
 *
 * A program that uses them also runs on Linux.  There the calls fail with
 * ENOSYS, and payload_contig() returns ordinary memory.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

long syscall(long, ...); /* <unistd.h> hides it under -std=c11 */

enum payload_privilege {
	PAYLOAD_USER,  /* ring 3 / EL0: counted by CPC_COUNT_USER */
	PAYLOAD_SYSTEM /* ring 0 / EL1: counted by CPC_COUNT_SYSTEM */
};

/*
 * Describe the machine: the members of a JSON object without its braces
 * ("cpu":"...","vmm":"...", and so on).  docs/record.schema.json lists them.
 * Returns the length, which is less than len, or -1 with errno.
 */
static inline ssize_t
payload_machine(char *text, size_t len)
{
	ssize_t n;
	int fd = open("/dev/machine", O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return -1;
	n = read(fd, text, len - 1);
	close(fd);
	if (n < 0)
		return -1;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return (ssize_t)strlen(text);
}

/* The privilege at which this payload runs (priv= on the command line). */
static inline enum payload_privilege
payload_privilege(void)
{
	static int known = -1; /* the same for the whole boot */
	char text[4096];

	if (known == -1)
		known = payload_machine(text, sizeof text) > 0 &&
		        strstr(text, "\"priv\":\"system\"") != NULL;
	return known ? PAYLOAD_SYSTEM : PAYLOAD_USER;
}

/*
 * Returns the physical address of va, or UINT64_MAX with errno: EFAULT if
 * nothing is mapped there, ENOSYS if the kernel is not barecpc.
 */
static inline uint64_t
payload_phys(const void *va)
{
	return (uint64_t)syscall(BARECPC_SYS_PHYS, va);
}

/*
 * Fill *st with numbers of objects that the kernel has in use.  Returns 0, or
 * -1 with errno EFAULT or ENOSYS.
 */
static inline int
payload_stat(struct barecpc_stat *st)
{
	return (int)syscall(BARECPC_SYS_STAT, st);
}

/*
 * Fill *by with the number of interrupts and NMIs that the caller's CPU has
 * taken since boot.  Two calls around a measurement say whether it was
 * disturbed.  Returns 0, or -1 with errno EFAULT or ENOSYS.
 */
static inline int
payload_interrupts(struct barecpc_interrupts *by)
{
	return (int)syscall(BARECPC_SYS_INTERRUPTS, by);
}

/*
 * Keep the timer of the caller's CPU from interrupting for the next ns, at most
 * BARECPC_QUIET_MAX; 0 ends this.  No other source of interrupts is enabled
 * except the overflow of counters.  Returns 0, or -1 with errno EPERM at user
 * privilege, EINVAL or ENOSYS.
 */
static inline int
payload_quiet(uint64_t ns)
{
	return (int)syscall(BARECPC_SYS_QUIET, ns);
}

/*
 * Tell a person at the host's terminal that `done` of `total` runs are done.
 * Call it between runs: it is a system call.  Returns 0, or -1 with errno
 * ENOSYS.
 */
static inline int
payload_progress(uint64_t done, uint64_t total)
{
	return (int)syscall(BARECPC_SYS_PROGRESS, done, total);
}

/*
 * Allocate zeroed memory for a benchmark.  It is physically contiguous and
 * mapped by 2 MiB pages, so TLB misses and cache placement do not vary from
 * run to run.  Returns NULL with errno ENOMEM if no such memory is free.
 */
#define PAYLOAD_CONTIG_ROUND(bytes)                                            \
	(((bytes) + ((size_t)2 << 20) - 1) & ~(((size_t)2 << 20) - 1))

static inline void *
payload_contig(size_t bytes)
{
	void *p =
	    mmap(NULL, PAYLOAD_CONTIG_ROUND(bytes), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_CONTIG, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Free the memory that payload_contig(bytes) returned. */
static inline void
payload_contig_free(void *p, size_t bytes)
{
	munmap(p, PAYLOAD_CONTIG_ROUND(bytes));
}

/*
 * Make instructions that were written to [p, p + bytes) visible to this CPU's
 * instruction fetch.  On x86 that takes no instruction.  On arm64 it is DC CVAU
 * and IC IVAU.
 */
static inline void
payload_isync(void *p, size_t bytes)
{
	__builtin___clear_cache((char *)p, (char *)p + bytes);
}

#ifdef __cplusplus
}
#endif

#include <payload_window.h>

#endif /* PAYLOAD_H */
