/* Arguments, environment, auxiliary vector, TLS and stack at the start. */
#include "tests/lib/image/test.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

extern char **environ;
extern const char __ehdr_start[], etext[];

TEST(argv_ends_in_null)
{
	REQUIRE(test_argc >= 1);
	for (int i = 0; i < test_argc; i++)
		EXPECT(test_argv[i] != NULL);
	EXPECT(test_argv[test_argc] == NULL);
	EXPECT(strstr(test_argv[0], "startup") != NULL);
}

TEST(environment_follows_argv)
{
	EXPECT(environ == test_argv + test_argc + 1);
	for (char **e = environ; *e != NULL; e++)
		EXPECT(strchr(*e, '=') != NULL);
	EXPECT(getenv("no such name") == NULL);
}

TEST(auxiliary_vector)
{
	const Elf64_Ehdr *eh = (const void *)__ehdr_start;
	const unsigned char *random;

	EXPECT_EQ(getauxval(AT_PAGESZ), 4096);
	EXPECT_EQ(getauxval(AT_PHDR), __ehdr_start + eh->e_phoff);
	EXPECT_EQ(getauxval(AT_PHNUM), eh->e_phnum);
	EXPECT_EQ(getauxval(AT_PHENT), sizeof(Elf64_Phdr));
	EXPECT_EQ(getauxval(AT_ENTRY), eh->e_entry);
	EXPECT_EQ(getauxval(AT_SECURE), 0);
	EXPECT(getauxval(AT_HWCAP) != 0);
	random = (const unsigned char *)getauxval(AT_RANDOM);
	REQUIRE(random != NULL);
	EXPECT(memcmp(random, random + 8, 8) != 0);
	errno = 0;
	EXPECT(getauxval(9999) == 0 && errno == ENOENT);
}

TEST(stack_is_aligned)
{
	/* The ABIs demand 16 bytes, else this is not aligned. */
	alignas(16) char local[16];

	__asm__ volatile("" : : "r"(local) : "memory");
	EXPECT_EQ((uintptr_t)local % 16, 0);
	EXPECT_EQ((uintptr_t)__builtin_frame_address(0) % 16, 0);
}

TEST(stack_is_deep_enough)
{
	/* 1 MiB, touched from the top down, a page at a time. */
	volatile char deep[1 << 20];

	for (long i = (long)sizeof deep - 1; i >= 0; i -= 4096)
		deep[i] = 1;
	EXPECT_EQ(deep[sizeof deep - 1], 1);
}

static _Thread_local int tls_data = 42;
static _Thread_local long tls_bss[100];
static _Thread_local alignas(64) char tls_aligned[64];

TEST(thread_local_storage)
{
	EXPECT_EQ(tls_data, 42);
	for (int i = 0; i < 100; i++)
		EXPECT_EQ(tls_bss[i], 0);
	EXPECT_EQ((uintptr_t)tls_aligned % 64, 0);
	tls_data = 43;
	sched_yield(); /* into the kernel and back */
	EXPECT_EQ(tls_data, 43);
}

TEST(bss_and_data_are_loaded)
{
	static volatile char bss[100000];
	static volatile uint64_t data = 0x123456789abcdef0;
	size_t i;

	for (i = 0; i < sizeof bss && bss[i] == 0; i++)
		;
	EXPECT_EQ(i, sizeof bss);
	EXPECT_EQ(data, 0x123456789abcdef0);
}
