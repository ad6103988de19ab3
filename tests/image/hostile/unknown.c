/* An unknown system call fails with ENOSYS, and the program continues. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <payload.h>
#include <unistd.h>

TEST(unknown_numbers_answer_enosys)
{
	const long numbers[] = { 777, 1500, 0x3fff, 0x4005, 0x7fffffff, -1 };

	for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		EXPECT_ERRNO(syscall(numbers[i], 1, 2, 3), ENOSYS);
		EXPECT_ERRNO(syscall(numbers[i]), ENOSYS);
	}
}

TEST(all_bits_of_a_number_count)
{
	/* The low bits are a call's number.  The upper bits must count, too. */
	EXPECT_ERRNO(syscall(0x7fff4002, 0), ENOSYS);
}

TEST(the_call_leaves_its_arguments_unchanged)
{
	volatile long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

	EXPECT_ERRNO(syscall(0x3fff, a, b, c, d, e, f), ENOSYS);
	EXPECT(a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6);
}
