#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum method { GET, POST = 5, PUT };
typedef enum { F_A = 1, F_B = 2, F_C = 4 } flags_t;
struct header { const char *name; char value[16]; struct header *next; };
typedef struct point { short x, y; } point;
struct request {
	char *url;
	enum method method;
	flags_t flags;
	unsigned ready : 1, code : 10;
	int signed_field : 4;
	struct header *headers;
	union { int i; float f; };
	struct { point from, to; } span[3];
	int (*handler)(struct request *, int);
	unsigned char key[4];
	double weight;
	long double exact;
	void *opaque;
};
struct hidden;
extern struct hidden *secret;
extern int far_away;
extern const char *const names[];
typedef int (*callback)(int);
typedef unsigned char byte;
static int counter = 41;
int table[4] = {10, 20, 30, 40};
int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
static const struct point origin = {1, -2};
long long big = -5000000000;
unsigned long mask = 0xff00ff00ff00ff00;
float ratio = 1.5f;
_Bool yes = 1;
char letter = 'q';
static __thread int per_thread = 77;

static int twice(int n) { return 2 * n; }
callback cb = twice;

__attribute__((noinline)) static int leaf(struct request *req, int n)
{
	static int calls = 3;
	int counter = 7;
	int list[5] = {5, 4, 3, 2, 1};
	int *p = &list[1], *q = &list[4];
	const char *text = "hello";
	byte *bytes = (byte *) "xyz";
	char **argv = &req->url;
	void *any = req;
	struct local { int a; } mine = {12};
	unsigned u = 4000000000u;
	unsigned char small = 200;
	short neg = -3;
	double d = 2.5;
	int vla[n];
	memset(vla, 0, sizeof vla);
	vla[0] = n;
	{
		long counter = 99;
		per_thread++;
		puts("ready");
		fflush(stdout);
		char c;
		while (read(0, &c, 1) > 0)
			;
		calls += counter + *p + *q + (int) d + neg + small + u + mine.a + vla[0] + **argv + *bytes + (any != 0);
	}
	return counter + *text;
}

__attribute__((noinline)) static int handle_request(struct request *req, int depth)
{
	int local = depth * 10;
	if (depth > 0)
		return handle_request(req, depth - 1) + local;
	return leaf(req, 3) + local;
}

int main(void)
{
	struct header second = {"Accept", "text/html", 0}, first = {"Host", "example.org", &second};
	struct request r = {.url = strdup("/index.html"), .method = PUT, .flags = F_A | F_C, .ready = 1, .code = 404, .signed_field = -3, .headers = &first, .f = 1.0f,
		.span = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, .handler = handle_request, .key = {1, 2, 3, 255}, .weight = -0.1, .exact = 1.25L, .opaque = &first};
	struct request *req = &r;
	return handle_request(req, 2) + far_away + counter + origin.x + (secret != 0);
}
