/* A native extension of Tcl. Its handler of SIGUSR2 writes what Tcl says of the interpreter, wherever
   the thread is, and an empty line:
   "phase<tab>number" of the last "o_phase",
   "frame<tab>name<tab>file<tab>line" for each frame of "info frame", the innermost first,
   "call<tab>name" for each call of a procedure, also of one that calls no command: "*" if it is no
   command's.
   A copy of the process asks Tcl, for that changes the interpreter: "died" stands where the copy
   could not. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tclInt.h"

static int out = -1;
static int phase;
static Tcl_Interp *main_interp;
static char text[1 << 20];

static void say(const char *what) {
	if (write(out, what, strlen(what)) < 0)
		_exit(3);
}

static const char *get(Tcl_Obj *dict, const char *key) {
	Tcl_Obj *value = NULL;
	if (Tcl_DictObjGet(NULL, dict, Tcl_NewStringObj(key, -1), &value) != TCL_OK || !value)
		return NULL;
	return Tcl_GetString(value);
}

static size_t frame(char *at, size_t room, Tcl_Obj *dict) {
	const char *type = get(dict, "type"), *proc = get(dict, "proc"), *method = get(dict, "method");
	const char *of = get(dict, "class"), *file = get(dict, "file"), *line = get(dict, "line");
	char name[3000];
	if (!of)
		of = get(dict, "object");
	if (proc)
		snprintf(name, sizeof name, "%s", proc);
	else if (get(dict, "lambda"))
		strcpy(name, "<lambda>");
	else if (method && *method == '<')
		snprintf(name, sizeof name, "%s %.*s", of, (int)strlen(method) - 2, method + 1);
	else if (method)
		snprintf(name, sizeof name, "%s method %s", of, method);
	else
		snprintf(name, sizeof name, "<%s>", strcmp(type, "source") ? type : "script");
	return snprintf(at, room, "frame\t%s\t%s\t%s\n", name, file ? file : "", file && line ? line : "0");
}

static int ask(Tcl_Interp *interp) {
	size_t used = 0;
	int level;
	CallFrame *call;
	CoroutineData *coroutine;
	for (level = 1; used < sizeof text - 10000; level++) {
		char command[40];
		snprintf(command, sizeof command, "info frame -%d", level);
		if (Tcl_EvalEx(interp, command, -1, 0) != TCL_OK)
			break;
		used += frame(text + used, sizeof text - used, Tcl_GetObjResult(interp));
	}
	coroutine = ((Interp *)interp)->execEnvPtr->corPtr;
	for (call = ((Interp *)interp)->framePtr; call && used < sizeof text - 10000; call = call->callerPtr) {
		Tcl_Obj *name = Tcl_NewStringObj("*", -1);
		while (!call->callerPtr && coroutine) {
			call = coroutine->caller.framePtr;
			coroutine = coroutine->callerEEPtr->corPtr;
		}
		if (!call->procPtr)
			continue;
		if (call->procPtr->cmdPtr->hPtr) {
			Tcl_SetStringObj(name, "", 0);
			Tcl_GetCommandFullName(interp, (Tcl_Command)call->procPtr->cmdPtr, name);
		}
		used += snprintf(text + used, sizeof text - used, "call\t%s\n", Tcl_GetString(name));
	}
	if (write(out, text, used) < 0)
		return 3;
	return 0;
}

static void tell(int sig) {
	int status = 1;
	char line[40];
	snprintf(line, sizeof line, "phase\t%d\n", phase);
	say(line);
	pid_t child = syscall(SYS_fork); /* without the handlers of others, which may wait for what the thread has locked */
	if (child == 0) {
		alarm(5);
		_exit(ask(main_interp));
	}
	waitpid(child, &status, 0);
	say(status ? "died\n\n" : "\n");
}

/* Evaluates a script by way of C. */
static int o_call(ClientData unused, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[]) {
	int result;
	if (objc != 2)
		return TCL_ERROR;
	result = Tcl_EvalObjEx(interp, objv[1], 0);
	__asm__ volatile("" : : : "memory");
	return result;
}

/* Calls a command by way of C. */
static int o_invoke(ClientData unused, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[]) {
	int result = Tcl_EvalObjv(interp, objc - 1, objv + 1, 0);
	__asm__ volatile("" : : : "memory");
	return result;
}

/* Tells a number. */
static int o_phase(ClientData unused, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[]) {
	return Tcl_GetIntFromObj(interp, objv[1], &phase);
}

/* Comes to rest. */
static int o_rest(ClientData unused, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[]) {
	for (;;)
		pause();
}

int Oracle_Init(Tcl_Interp *interp) {
	if (!main_interp) {
		struct sigaction handler;
		main_interp = interp;
		memset(&handler, 0, sizeof handler);
		handler.sa_handler = tell;
		handler.sa_flags = SA_RESTART;
		sigaction(SIGUSR2, &handler, NULL);
		out = open(getenv("ORACLE"), O_WRONLY | O_APPEND);
	}
	Tcl_CreateObjCommand(interp, "o_call", o_call, NULL, NULL);
	Tcl_CreateObjCommand(interp, "o_invoke", o_invoke, NULL, NULL);
	Tcl_CreateObjCommand(interp, "o_phase", o_phase, NULL, NULL);
	Tcl_CreateObjCommand(interp, "o_rest", o_rest, NULL, NULL);
	return TCL_OK;
}
