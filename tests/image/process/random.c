/* getrandom(2) looks random, and is the same in each run: the host compares. */
#include "tests/lib/image/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

TEST(bytes_differ_from_call_to_call)
{
	unsigned char a[32] = { 0 }, b[32] = { 0 };

	EXPECT_EQ(getrandom(a, sizeof a, 0), sizeof a);
	EXPECT_EQ(getrandom(b, sizeof b, GRND_NONBLOCK), sizeof b);
	EXPECT(memcmp(a, b, sizeof a) != 0);
	printf("# ");
	for (unsigned i = 0; i < sizeof a; i++)
		printf("%02x", a[i]);
	putchar('\n');
}

TEST(every_byte_takes_every_value)
{
	static unsigned char bytes[65536];
	static unsigned seen[256];

	EXPECT_EQ(getrandom(bytes, sizeof bytes, 0), sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		seen[bytes[i]]++;
	/* 256 of each are expected.  Chance alone never leaves 128 to 512. */
	for (size_t i = 0; i < 256; i++)
		EXPECT(seen[i] > 128 && seen[i] < 512);
}

TEST(only_what_was_asked_for_is_written)
{
	unsigned char a[9];

	memset(a, 0x5a, sizeof a);
	EXPECT_EQ(getrandom(a + 1, 7, 0), 7);
	EXPECT(a[0] == 0x5a && a[8] == 0x5a);
	EXPECT_EQ(getrandom(a, 0, 0), 0);
}
