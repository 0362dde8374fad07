#include <string.h>

#include "_cgo_export.h"

static volatile int sink;

__attribute__((noinline)) static int inner(int n) {
    char buffer[100];
    memset(buffer, n, sizeof buffer);
    return buffer[n] + sink;
}

__attribute__((noinline)) int steps_leaf(int n) {
    int a = sink + 1, b = sink + 2, c = sink + 3;
    n = inner(n);
    return n + a + b * c + sink;
}

__attribute__((noinline)) int steps_calls_go(int n) {
    int a = sink + 1, b = sink + 2, c = sink + 3, d = sink + 4;
    n = goStep(n);
    return n + a + b * c - d + sink;
}
