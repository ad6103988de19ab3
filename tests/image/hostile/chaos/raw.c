/* Random system calls, which may damage their own process alone. */
#include "tests/image/hostile/chaos/chaos.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE  ((uintptr_t)4096)
#define ARENA 16 /* pages */

long syscall(long, ...);

static char *arena;

/* Calls that end the process, or could end or stop the test. */
static bool
is_barred(long number, const uintptr_t *a)
{
	switch (number) {
	case SYS_exit:
	case SYS_exit_group:
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
	case BARECPC_SYS_TEST: /* makes allocations fail in later calls, too */
		return true;
	case BARECPC_SYS_CONTROL:
		return a[0] == BARECPC_CONTROL_CAPTURE &&
		       (pid_t)a[1] == chaos.ch_root;
	default:
		return false;
	}
}

/* Linux's numbers end below 512. barecpc's own numbers follow one another. */
static long
random_number(void)
{
	if (chaos_one_in(8))
		return BARECPC_SYS_CPC + (long)chaos_below(9);
	return (long)chaos_below(chaos_one_in(16) ? 1 << 20 : 450);
}

/* Calls that most often ruin the process's memory: they are rare here. */
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

/* The kernel writes, by a read from a pipe: it may fail, without a signal. */
void
chaos_write(uintptr_t to, const void *from, size_t bytes)
{
	struct iovec here = { (void *)(uintptr_t)from, bytes };
	int end[2];

	if (pipe(end) == -1)
		return;
	if (writev(end[1], &here, 1) == (ssize_t)bytes)
		read(end[0], (void *)to, bytes);
	close(end[0]);
	close(end[1]);
}

/* Fill a part of the arena with numbers, addresses and flags. */
static void
fill_arena(void)
{
	uint64_t words[16];

	for (unsigned i = 0; i < 16; i++)
		words[i] = random_argument();
	chaos_write((uintptr_t)arena + chaos_below(ARENA * PAGE / 8) * 8, words,
	    sizeof words);
	if (chaos_one_in(8))
		chaos_write((uintptr_t)arena + PAGE,
		    chaos_one_in(2) ? "/dev/zero" : "/chaos\0\0", 10);
}

/* The arena: mostly writable, some read-only, inaccessible or unmapped. */
static void
make_arena(void)
{
	arena = mmap(NULL, ARENA * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		_exit(1);
	strcpy(arena + PAGE, "/dev/zero");
	mprotect(arena + 10 * PAGE, 2 * PAGE, PROT_READ);
	mprotect(arena + 12 * PAGE, 2 * PAGE, PROT_NONE);
	munmap(arena + 14 * PAGE, PAGE);
	chaos_typed_begin(arena, ARENA);
}

/* Close the console, so that no random call writes to it. */
static void
leave_console(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	for (int fd = 3; fd < 64; fd++)
		close(fd);
}

static void
random_call(void)
{
	long number = random_number();
	uintptr_t a[6];

	fill_arena();
	for (unsigned i = 0; i < 6; i++)
		a[i] = random_argument();
	if (!is_barred(number, a) && !is_fatal(number))
		syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static const struct chaos_program *program;

static void
make_calls(unsigned lwp)
{
	for (unsigned n = 0; n < program->chp_calls; n++) {
		chaos_self.chl_random = program->chp_seed[lwp][n];
		if (chaos_one_in(4))
			random_call();
		else
			chaos_typed_call();
	}
}

static void *
another_lwp(void *arg)
{
	make_calls((unsigned)(uintptr_t)arg);
	return NULL;
}

void
chaos_raw(const struct chaos_program *p)
{
	struct itimerval it = { { 0, 500 }, { 0, 500 } };
	pthread_t t[CHAOS_RAW_LWPS];

	program = p;
	chaos.ch_pid = getpid();
	chaos_self.chl_random = p->chp_seed[0][0];
	chaos_handlers();
	leave_console();
	make_arena();
	/* The timer interrupts waits, until a random call changes it. */
	setitimer(ITIMER_REAL, &it, NULL);
	for (unsigned i = 1; i < p->chp_lwps; i++) {
		if (pthread_create(
			&t[i], NULL, another_lwp, (void *)(uintptr_t)i) != 0)
			_exit(1);
	}
	make_calls(0);
	/* Do not join the other LWPs: their own calls may have ended them. */
	_exit(0);
}
