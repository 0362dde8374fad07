// Recurses 40 to 64 frames of 3 KB, as often as it can.
#include <string.h>

static volatile unsigned char sink;

__attribute__((noinline)) static int down(int n) {
	unsigned char room[3000];
	memset(room, n, 64);
	int r = n > 0 ? down(n - 1) : 0;
	sink = room[n & 63];
	return r + room[1];
}

int main(void) {
	for (int i = 0;; i++) down(40 + i % 25);
}
