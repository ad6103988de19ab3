/* Euclid's algorithm: what `barecpc nb -kernel kernel.o -symbol gcd` counts. */
unsigned long gcd(unsigned long a, unsigned long b);

unsigned long
gcd(unsigned long a, unsigned long b)
{
	while (b != 0) {
		unsigned long rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}
