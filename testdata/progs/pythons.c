// pythons TEXT LIBRARY HOME LIBRARY HOME...: runs a text in the Python of each library, all on one
// stack: the text calls the next one by the function inner().
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const char *text;
static char **libraries;
static void *none; // None, of the last Python

static void run(void);

// method is Python's PyMethodDef.
static struct method {
	const char *name;
	void *(*call)(void *, void *);
	int flags;
	const char *doc;
} method;

static void *inner(void *self, void *args)
{
	void *result = none;

	run();
	return result;
}

static void *must(void *found)
{
	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return found;
}

static void run(void)
{
	void *python, *module, *function;

	if (!libraries[0])
		return;
	python = must(dlopen(libraries[0], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND));
	setenv("PYTHONHOME", libraries[1], 1);
	libraries += 2;
	((void (*)(int))must(dlsym(python, "Py_InitializeEx")))(0);
	none = must(dlsym(python, "_Py_NoneStruct"));
	method = (struct method){"inner", inner, 4, 0}; // METH_NOARGS
	module = ((void *(*)(const char *))must(dlsym(python, "PyImport_AddModule")))("__main__");
	function = ((void *(*)(void *, void *, void *))must(dlsym(python, "PyCFunction_NewEx")))(&method, 0, 0);
	((int (*)(void *, const char *, void *))must(dlsym(python, "PyObject_SetAttrString")))(module, "inner", function);
	if (((int (*)(const char *))must(dlsym(python, "PyRun_SimpleString")))(text))
		exit(1);
}

int main(int argc, char **argv)
{
	text = argv[1];
	libraries = argv + 2;
	puts("ready");
	fflush(stdout);
	run();
	return 0;
}
