/*
 * Run code in pages, free them, and store often to memory that is allocated
 * then: data, and the kernel stacks of threads.  QEMU must not keep
 * translations of the code, for they make the stores slow (old_code.sh).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES  16
#define BYTES  (PAGES * 4096UL)
#define BLOCK  64
#define STORES 50000

#define THREADS 4
#define CALLS   20000

#ifdef __x86_64__
static const unsigned char ret[] = { 0xc3 };
#else
static const unsigned char ret[] = { 0xc0, 0x03, 0x5f, 0xd6 };
#endif

static char *
map(int prot)
{
	return mmap(NULL, BYTES, prot, MAP_PRIVATE | MAP_ANON, -1, 0);
}

static void
run_code(void)
{
	char *code = map(PROT_READ | PROT_WRITE | PROT_EXEC);

	/* Not at the start of a block, which DC ZVA overwrites as well. */
	for (size_t at = BLOCK / 2; at < BYTES; at += BLOCK)
		memcpy(code + at, ret, sizeof ret);
	__builtin___clear_cache(code, code + BYTES);
	for (size_t at = BLOCK / 2; at < BYTES; at += BLOCK)
		((void (*)(void))(uintptr_t)(code + at))();
	munmap(code, BYTES);
}

static void *
make_calls(void *arg)
{
	for (int i = 0; i < CALLS; i++)
		getppid();
	return arg;
}

int
main(void)
{
	pthread_t t[THREADS];

	run_code();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, make_calls, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	run_code();
	char *data = map(PROT_READ | PROT_WRITE);
	for (int i = 0; i < STORES; i++)
		for (size_t at = 0; at < BYTES; at += 4096)
			*(volatile char *)(data + at) = (char)i;
	printf("%lu stores\n", STORES * PAGES * 1UL);
	return 0;
}
