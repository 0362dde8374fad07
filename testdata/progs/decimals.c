// Decimal numbers of random bits, many of which have a coefficient that is too large. The program writes them as doubles, into the file
// that it is told.
#include "ready.h"

#include <stdio.h>
#include <string.h>

enum { COUNT = 60 };

static unsigned long long state = 88172645463325252ULL;

static unsigned char byte(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 24;
}

static void fill(unsigned char *to, int size)
{
	for (int i = 0; i < COUNT; i++, to += size) {
		int few = i % 5 == 0 ? size / 2 : size; // a small number
		for (int k = 0; k < few; k++)
			to[k] = byte();
		if (i % 3 == 0) { // the exponent follows two ones
			to[size - 1] = (to[size - 1] & 0x8f) | 0x60;
		} else { // near one, so that a double can hold the number
			to[size - 1] = (to[size - 1] & 0x80) | (size == 16 ? 0x30 : 0x32);
		}
	}
}

int main(int argc, char **argv)
{
	_Decimal32 small[COUNT] = {0};
	_Decimal64 middle[COUNT] = {0};
	_Decimal128 large[COUNT] = {0};
	FILE *out = fopen(argv[argc - 1], "w");
	arm();
	fill((unsigned char *)small, sizeof *small);
	fill((unsigned char *)middle, sizeof *middle);
	fill((unsigned char *)large, sizeof *large);
	if (!out)
		return 1;
	for (int i = 0; i < COUNT; i++)
		fprintf(out, "%.17g\n", (double)small[i]);
	for (int i = 0; i < COUNT; i++)
		fprintf(out, "%.17g\n", (double)middle[i]);
	for (int i = 0; i < COUNT; i++)
		fprintf(out, "%.17g\n", (double)large[i]);
	fclose(out);
	ready();
	block();
	return small[0] + middle[0] + large[0] > 0;
}
