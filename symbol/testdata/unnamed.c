/* Functions of several kinds, for a stripped program: static, with a cold part, with a tail call, in
   assembly that does not tell its size. */
#include <stdio.h>
#include <stdlib.h>

volatile int sink;

__attribute__((noinline, cold)) static void rare(int x) { sink += x; printf("%d\n", x); abort(); }
static __attribute__((noinline)) int leaf(int n) {
	if (__builtin_expect(n == 3, 0)) {
		rare(n);
		sink += n;
	}
	return n + sink;
}
static __attribute__((noinline)) int branches(int n) {
	int sum = sink;
	for (int i = 0; i < n; i++) {
		sum += leaf(i);
		if (__builtin_expect(sum < 0, 0)) {
			printf("negative %d\n", sum);
			exit(sum);
		}
	}
	return sum;
}
static int compare(const void *a, const void *b) { return branches(2) + *(const int *)a - *(const int *)b; }
static __attribute__((noinline)) int sorted(void) {
	int list[3] = {3, 1, 2};
	qsort(list, 3, sizeof *list, compare);
	return list[1] + sink;
}
int tail(int n) { return n ? sorted() : branches(n); }
int main(int argc, char **argv) { return tail(argc) + sink; }
