/* Calls whose arguments and results are looked into. */
#include "ready.h"
#include <stdlib.h>
#include <string.h>

struct node { int value; struct node *next; };
struct request { const char *url; int codes[3]; struct { double weight; } in; struct node *list; };
enum kind { PLAIN, FANCY = 7 };

struct node tail = {3, 0}, head = {2, &tail};
struct request request = {"/index.html", {200, 301, 404}, {2.5}, &head}, *req = &request;
unsigned char small = 250;
int time = 7; /* as a function of the C library is called */

static struct node *at(int n) { return n == 0 ? &head : n == 1 ? &tail : 0; }
struct node *make(int value) { struct node *n = malloc(sizeof *n); n->value = value; n->next = &head; return n; }
struct request copy(struct request r) { r.codes[1]++; return r; }
int length(const char *s) { int n = 0; while (s[n]) n++; return n; }
int add(int a, int b) { return a + b; }
double weigh(struct request *r) { return r->in.weight * 2; }
long wide(long x) { return x; }
char first(const char *s) { return s[0]; }
enum kind kindOf(int n) { return n ? FANCY : PLAIN; }
int sum(const int *v, int n) { int s = 0; while (n > 0) s += v[--n]; return s; }
int apply(int (*f)(int, int), int a, int b) { return f(a, b); }
const char *name(void) { return "a name"; }

int main(void)
{
	struct node own = {41, &head};
	struct request local = request;
	int index = 2; /* as a function of the C library is called */
	if (at(0)->value + own.value + index + local.codes[0] == 0)
		return 1;
	arm();
	ready();
	block();
	return time == 0;
}
