/* A copy, word by word. */
#include "../count.h"

volatile long from[1000], to[1000];

int
main(void)
{
	struct count c;

	count_open(&c);
	COUNT_BEGIN(&c);
	for (int i = 0; i < 1000; i++)
		to[i] = from[i];
	COUNT_END(&c);
	count_print(&c, "copy");
	return 0;
}
