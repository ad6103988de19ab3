/* The function that gcc calls for __builtin_popcount() without SIMD unit. */
int __popcountdi2(unsigned long x);

int
__popcountdi2(unsigned long x)
{
	int n = 0;

	for (; x != 0; x &= x - 1)
		n++;
	return n;
}
