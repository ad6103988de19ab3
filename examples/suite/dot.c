/* The dot product of two vectors. */
#include "../count.h"

int
main(void)
{
	static double x[1000], y[1000];
	volatile double dot = 0;
	struct count c;

	count_open(&c);
	COUNT_BEGIN(&c);
	for (int i = 0; i < 1000; i++)
		dot += x[i] * y[i];
	COUNT_END(&c);
	count_print(&c, "dot");
	return 0;
}
