/*
 * System calls of random numbers with random arguments.  Whatever they do to
 * the process that makes them, they do it to no other.
 */
#include "tests/image/chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE  ((uintptr_t)4096)
#define ARENA 16 /* pages */

long syscall(long, ...);

static char *arena;

/*
 * Those that end the process by design, and those by which it could end the
 * test.
 */
static bool
barred(long number)
{
	switch (number) {
	case SYS_exit:
	case SYS_exit_group:
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
		return true;
	default:
		return false;
	}
}

/* Linux's numbers end below 512, and private ones follow one another. */
static long
random_number(void)
{
	if (chaos_one_in(8))
		return BARECPC_SYS_CPC + (long)chaos_below(6);
	return (long)chaos_below(chaos_one_in(16) ? 1 << 20 : 450);
}

/*
 * Those that mostly take the program's own code or stack away, return to a
 * frame that is none, or begin another LWP nowhere: often enough for a try,
 * but not before the other calls had theirs.
 */
static bool
is_fatal(long number)
{
	switch (number) {
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_mremap:
	case SYS_madvise:
	case SYS_rt_sigreturn:
	case SYS_clone:
		return !chaos_one_in(16);
	default:
		return false;
	}
}

static uintptr_t
random_address(void)
{
	static const uintptr_t edges[] = { 0, 8, 0xfff, 0x10000, 0x40000000,
		0x7fffffffe000, 0x7ffffffff000, 0x7fffffffffff, 0x800000000000,
		0xffff000000000000, 0xffff800000000000, 0xffffffff80000000,
		0xffffffff80200000, (uintptr_t)-4096, (uintptr_t)-1 };
	uintptr_t a;

	switch (chaos_below(6)) {
	case 0:
		a = edges[chaos_below(sizeof edges / sizeof *edges)];
		return a + chaos_below(17) - 8;
	case 1:
		return (uintptr_t)&a + chaos_below(256) * 16;
	case 2:
		return (uintptr_t)random_address & -PAGE;
	default:
		a = (uintptr_t)arena + chaos_below(ARENA) * PAGE;
		return chaos_one_in(2) ? a : a + chaos_below(PAGE);
	}
}

static uintptr_t
random_argument(void)
{
	static const uintptr_t sizes[] = { 1, 8, 24, 128, 4095, 4096, 4097,
		65536, 1 << 21, 1UL << 31, 1UL << 32, 1UL << 47, INTPTR_MAX,
		(uintptr_t)INTPTR_MAX + 1 };

	switch (chaos_below(8)) {
	case 0:
		return 0;
	case 1:
		return chaos_below(8);
	case 2:
		return chaos_below(70);
	case 3:
		return -chaos_below(5);
	case 4:
		return sizes[chaos_below(sizeof sizes / sizeof *sizes)];
	case 5:
		return chaos_below(UINT64_MAX);
	default:
		return random_address();
	}
}

/* Numbers, addresses, flags: what calls find where pointers lead. */
static void
fill_arena(void)
{
	uint64_t *words = (uint64_t *)arena;

	for (unsigned i = 0; i < 64; i++) {
		uint64_t at = chaos_below(8 * PAGE / 8);

		words[at] = random_argument();
	}
	strcpy(arena + PAGE, chaos_one_in(2) ? "/dev/zero" : "/chaos");
}

/* Half of it is writable, and behind that is what cannot be, or is not. */
static void
make_arena(void)
{
	arena = mmap(NULL, ARENA * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		_exit(1);
	mprotect(arena + 10 * PAGE, 2 * PAGE, PROT_READ);
	mprotect(arena + 12 * PAGE, 2 * PAGE, PROT_NONE);
	munmap(arena + 14 * PAGE, PAGE);
}

/* Nothing it writes shall reach the console. */
static void
leave_console(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	for (int fd = 3; fd < 64; fd++)
		close(fd);
}

void
chaos_raw(uint64_t seed, unsigned calls)
{
	struct itimerval it = { { 0, 500 }, { 0, 500 } };
	uintptr_t a[6];

	chaos.ch_pid = getpid();
	chaos_self.cl_random = seed;
	chaos_handlers();
	leave_console();
	make_arena();
	/* What waits is interrupted, until a call sees to that. */
	setitimer(ITIMER_REAL, &it, NULL);
	for (unsigned n = 0; n < calls; n++) {
		long number = random_number();

		fill_arena();
		for (unsigned i = 0; i < 6; i++)
			a[i] = random_argument();
		if (!barred(number) && !is_fatal(number))
			syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
	_exit(0);
}
