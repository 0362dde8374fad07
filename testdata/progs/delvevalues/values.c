/* Variables of C in all kinds. A test compares them with what gdb shows, and with this source. */
#include "values.h"

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define NOINLINE __attribute__((noinline, noclone))
#define KEEP(x) __asm__ volatile("" : : "r"(&(x)) : "memory")

struct point {
    int x, y;
};
enum color { RED, GREEN = 5, BLUE };
enum flags { FIRST = 1, SECOND = 2, THIRD = 4 };
typedef struct node {
    struct node *next;
    long number;
    const char *name;
} node;
union number {
    int i;
    float f;
    unsigned char b[8];
};
struct all {
    char c;
    unsigned char u;
    short s;
    unsigned bits : 3;
    int sbits : 5;
    struct point p;
    int list[4];
    enum color color;
    union number n;
    struct {
        int inside;
    };
    void (*call)(int);
    struct point *to;
};

/* Where many elements are, and large ones. */
static int many[1000];

static NOINLINE long c_inner(int depth, struct all *all, const char *text, node *list, struct point by_value) {
    bool yes = true;
    signed char negative = -7;
    unsigned long large = 18446744073709551615ul;
    double half = 2.5;
    float third = 0.1f;
    long double wide_double = 1.25L;
    double complex z = 1.5 + 2.0 * I;
    enum color color = GREEN;
    enum flags set = FIRST | THIRD;
    char letter = 'x', quote = '\'', paren = ')';
    wchar_t wide[] = L"w\u00efde";
    char buffer[32] = "buffer\n\"quoted\"";
    int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
    struct point points[3] = {{1, 2}, {3, 4}, {5, 6}};
    struct point *null = 0, *bad = (struct point *)8, **to_pointer = &all->to;
    void *nothing = &half, *self;
    const char *no_text = 0, *bad_text = (const char *)16;
    int shadowed = 1;
    int sum = 0;
    int sized[depth + 2];
    uint8_t bytes[4] = {1, 0, 255, 65};
    self = &self;
    for (int i = 0; i < depth + 2; i++)
        sized[i] = i * i;
    KEEP(yes); KEEP(negative); KEEP(large); KEEP(half); KEEP(third); KEEP(wide_double); KEEP(z); KEEP(color); KEEP(set);
    KEEP(letter); KEEP(quote); KEEP(paren); KEEP(wide); KEEP(buffer); KEEP(matrix); KEEP(points); KEEP(null); KEEP(bad);
    KEEP(to_pointer); KEEP(nothing); KEEP(self); KEEP(no_text); KEEP(bad_text); KEEP(shadowed); KEEP(sized); KEEP(bytes);
    KEEP(all); KEEP(text); KEEP(list); KEEP(by_value);
    {
        int shadowed = depth + 40;
        KEEP(shadowed);
        cxx_waits(depth + 1);
        sum += shadowed;
    }
    return sum + depth + (long)strlen(text) + list->number + by_value.x;
}

static void called(int n) { many[n] = n; }

static long lazy(int n) { return n * 3; }

void c_waits(int n) {
    struct all all = {'c', 200, -300, 5, -3, {10, 20}, {7, 7, 7, 7}, BLUE, {.i = 1078530011}, {77}, called, 0};
    node third = {0, 3, "three"}, second = {&third, 2, "two"}, first = {&second, 1, "one"};
    long gone = lazy(n); /* not used behind the call: gone, in optimized code */
    int *to_many = many;
    for (int i = 0; i < 1000; i++)
        many[i] = i / 100;
    third.next = &first; /* a ring */
    all.to = &all.p;
    KEEP(all); KEEP(first); KEEP(to_many);
    c_inner((int)gone - 2 * n, &all, "a text", &first, (struct point){30, 40});
    KEEP(n);
}

static int waiting;

int c_waiting(void) { return __atomic_load_n(&waiting, __ATOMIC_SEQ_CST); }

long c_calls_back(long n) {
    struct point before = {(int)n, 51};
    KEEP(before);
    goBack(n + 1);
    KEEP(before);
    return before.y;
}

void c_ends(long n) {
    const char *end = "the end";
    KEEP(end);
    __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    while (n)
        pause();
    KEEP(n);
}

void c_turns(void) {
    for (int turn = 1;; turn++) {
        struct point at = {turn, turn * turn};
        KEEP(at);
        goTurn(turn);
        KEEP(at);
    }
}
