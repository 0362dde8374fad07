/*
 * An extension of PHP that says what is called at any moment. A signal interrupts the program
 * anywhere; the handler has PHP itself make a backtrace, with a heap of its own, writes it to the
 * file ORACLE, and stays until the file says that it was read. PHP's own handlers of signals wait
 * for a safe moment, which this must not: the signal is one that PHP leaves alone.
 *
 *	cc -shared -fPIC -o oracle.so $(php-config --includes) oracle.c
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include "php.h"
#include "zend_builtin_functions.h"
#include "zend_exceptions.h"

struct shared {
	_Atomic unsigned written, read; /* numbers of backtraces */
	unsigned length;
	char text[1 << 20];
};

static struct shared *shared;

static void add(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	int room = sizeof shared->text - shared->length;
	int n = vsnprintf(shared->text + shared->length, room, format, list);
	va_end(list);
	if (n > 0 && n < room)
		shared->length += n;
}

static const char *text(zval *entry, const char *key)
{
	zval *v = zend_hash_str_find(Z_ARRVAL_P(entry), key, strlen(key));
	return v && Z_TYPE_P(v) == IS_STRING ? Z_STRVAL_P(v) : "";
}

/* The instruction that the innermost frame of execute_ex runs, by libgcc's unwinder. */
struct instruction {
	zend_execute_data *call; /* whose it is */
	const zend_op *op;
};

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *data)
{
	struct instruction *in = data;
	uintptr_t function = (uintptr_t)_Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context));
	if (function != (uintptr_t)execute_ex)
		return _URC_NO_REASON;
#if defined(__x86_64__)
	in->call = (zend_execute_data *)_Unwind_GetGR(context, 14);
	in->op = (const zend_op *)_Unwind_GetGR(context, 15);
#elif defined(__aarch64__)
	in->call = (zend_execute_data *)_Unwind_GetGR(context, 27);
	in->op = (const zend_op *)_Unwind_GetGR(context, 28);
#endif
	return _URC_END_OF_STACK;
}

static int line(zend_op_array *function, const zend_op *op)
{
	if (op < function->opcodes || op >= function->opcodes + function->last)
		return 0;
	return op->lineno;
}

static void answer(int signal, siginfo_t *info, void *context)
{
	unsigned number = shared->written + 1;
	shared->length = 0;
	zend_mm_heap *heap = zend_mm_startup(), *before = zend_mm_set_heap(heap);
	zend_execute_data *current = EG(current_execute_data);
	if (current) {
		zval trace, *entry;
#ifdef ZEND_OP_IS_FRAMELESS_ICALL
		if (current->func && ZEND_USER_CODE(current->func->type) && ZEND_OP_IS_FRAMELESS_ICALL(current->opline->opcode))
			add("frameless\n"); /* PHP says that a function is called, which may have come back */
#endif
		if (!current->func) {
			add("unknown\n"); /* it stands for a generator that waits for another one */
		} else if (ZEND_USER_CODE(current->func->type)) {
			struct instruction in = {0};
			_Unwind_Backtrace(look, &in);
			if (in.call != current)
				in.op = NULL; /* a call that is being left, or made */
			const zend_op *saved = current->opline;
			if (saved >= EG(exception_op) && saved < EG(exception_op) + 3)
				saved = EG(opline_before_exception);
			add("innermost %d %d %s\n", line(&current->func->op_array, saved), line(&current->func->op_array, in.op), ZSTR_VAL(current->func->op_array.filename));
		}
		if (EG(exception)) {
			zval room, *message = zend_read_property_ex(zend_get_exception_base(EG(exception)), EG(exception), ZSTR_KNOWN(ZEND_STR_MESSAGE), 1, &room);
			add("exception %s: %s\n", ZSTR_VAL(EG(exception)->ce->name), Z_TYPE_P(message) == IS_STRING ? Z_STRVAL_P(message) : "");
		}
		zend_fetch_debug_backtrace(&trace, 0, DEBUG_BACKTRACE_IGNORE_ARGS, 0);
		ZEND_HASH_FOREACH_VAL(Z_ARRVAL(trace), entry) {
			zval *at = zend_hash_str_find(Z_ARRVAL_P(entry), "line", 4);
			add("%s%s%s\t%s\t%d\n", text(entry, "class"), text(entry, "type"), text(entry, "function"), text(entry, "file"), at ? (int)Z_LVAL_P(at) : 0);
		} ZEND_HASH_FOREACH_END();
		zval_ptr_dtor(&trace);
	}
	zend_mm_set_heap(before);
	zend_mm_shutdown(heap, 1, 1);
	shared->written = number;
	while (shared->read != number)
		nanosleep(&(struct timespec){0, 100000}, NULL);
}

/* Functions of an extension that call functions of PHP. */
ZEND_BEGIN_ARG_INFO(one_argument, 0)
	ZEND_ARG_INFO(0, function)
ZEND_END_ARG_INFO()

PHP_FUNCTION(oracle_call)
{
	zval *function;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ZVAL(function)
	ZEND_PARSE_PARAMETERS_END();
	call_user_function(NULL, NULL, function, return_value, 0, NULL);
}

PHP_MINIT_FUNCTION(oracle)
{
	const char *name = getenv("ORACLE");
	int fd = name ? open(name, O_RDWR | O_CREAT, 0600) : -1;
	if (fd < 0 || ftruncate(fd, sizeof *shared))
		return FAILURE;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		return FAILURE;
	struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_RESTART};
	return sigaction(SIGRTMIN + 5, &action, NULL) ? FAILURE : SUCCESS;
}

static const zend_function_entry functions[] = {
	PHP_FE(oracle_call, one_argument)
	PHP_FE_END
};

zend_module_entry oracle_module_entry = {
	STANDARD_MODULE_HEADER, "oracle", functions, PHP_MINIT(oracle), NULL, NULL, NULL, NULL, "1", STANDARD_MODULE_PROPERTIES
};

ZEND_GET_MODULE(oracle)
