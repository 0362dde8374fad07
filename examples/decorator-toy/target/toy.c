#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct function {
	char name[32];
	int line; // where it begins
};

// record is a call that has not returned. It lies on the stack of run.
struct record {
	struct record *caller;
	struct function *function;
	int line; // that runs
};

// task is a call that begins when main has ended.
struct task {
	struct task *next;
	struct function *function;
};

char toy_file[256];
struct record *toy_top; // the innermost call
struct task *toy_tasks; // the first to run
int toy_waits;          // for a signal: seconds at most; -1 for ever, 0 if it does not wait
struct function functions[100];
char lines[1000][80];

struct function *find(const char *name) {
	for (int i = 0; i < 100; i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	fprintf(stderr, "%s: no function %s\n", toy_file, name);
	exit(1);
}

void later(struct function *f) {
	struct task **last = &toy_tasks;
	while (*last)
		last = &(*last)->next;
	*last = malloc(sizeof **last);
	**last = (struct task){NULL, f};
}

void run(struct function *f) {
	struct record r = {toy_top, f, f->line};
	toy_top = &r;
	for (int i = f->line; strcmp(lines[i], "end"); i++) {
		r.line = i + 1;
		if (!strncmp(lines[i], "call ", 5))
			run(find(lines[i] + 5));
		else if (!strncmp(lines[i], "later ", 6))
			later(find(lines[i] + 6));
		else if (!strncmp(lines[i], "wait", 4)) {
			toy_waits = lines[i][4] ? atoi(lines[i] + 5) : -1;
			poll(NULL, 0, toy_waits * 1000);
			toy_waits = 0;
		}
	}
	toy_top = r.caller;
}

int main(int argc, char **argv) {
	snprintf(toy_file, sizeof toy_file, "%s", argv[1]);
	FILE *f = fopen(toy_file, "r");
	for (int i = 0, n = 0; f && i < 999 && fgets(lines[i], 80, f); i++) {
		lines[i][strcspn(lines[i], "\n")] = 0;
		if (n < 100 && sscanf(lines[i], "function %31s", functions[n].name) == 1)
			functions[n++].line = i + 1;
	}
	strcpy(lines[999], "end");
	run(find("main"));
	for (struct task *t; (t = toy_tasks);) {
		toy_tasks = t->next;
		run(t->function);
	}
}
