// An agent for HotSpot that asks the machine itself for the stack of a thread at one moment: by
// AsyncGetCallTrace, in the handler of a signal, in which the thread then waits.
//
// Its options are the path of a folder with two FIFOs: it reads commands from "ask" and answers in
// "answer", each answer with an empty line at its end:
//
//	hold TID    holds the thread in the handler; answers how many frames AsyncGetCallTrace has told
//	go          lets it go; answers the frames, the innermost first: class, method, line, bytecode
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 2048 };

typedef struct {
	jint bci;
	jmethodID method;
} Frame;

typedef struct {
	JNIEnv *env;
	jint count;
	Frame *frames;
} Trace;

static JavaVM *machine;
static jvmtiEnv *ti;
static void (*get)(Trace *, jint, void *);
static Frame frames[MOST];
static Trace trace;
static char folder[4096];

enum { NONE, ASKED, HELD, GO };
static atomic_int state;

static void nap(long ns)
{
	struct timespec t = {0, ns};
	nanosleep(&t, NULL);
}

static void onSignal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	int before = errno, want = ASKED;
	JNIEnv *env = NULL;
	if ((*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_1_6) == JNI_OK && env) {
		trace = (Trace){env, 0, frames};
		get(&trace, MOST, context);
	} else {
		trace.count = -100;
	}
	if (atomic_compare_exchange_strong(&state, &want, HELD)) {
		while (atomic_load(&state) == HELD) {
			nap(50000);
		}
		atomic_store(&state, NONE);
	}
	errno = before;
}

static void tell(FILE *out, Frame *f)
{
	char *name = NULL, *signature = NULL;
	jclass class;
	jvmtiLineNumberEntry *lines = NULL;
	jint n = 0, line = -1;
	if ((*ti)->GetMethodName(ti, f->method, &name, NULL, NULL) || (*ti)->GetMethodDeclaringClass(ti, f->method, &class) ||
		(*ti)->GetClassSignature(ti, class, &signature, NULL)) {
		fprintf(out, "? ? 0 %d\n", f->bci);
		return;
	}
	if (f->bci >= 0 && (*ti)->GetLineNumberTable(ti, f->method, &n, &lines) == 0) {
		jlocation best = -1;
		for (int i = 0; i < n; i++) {
			if (lines[i].start_location <= f->bci && lines[i].start_location > best) {
				best = lines[i].start_location;
				line = lines[i].line_number;
			}
		}
	}
	fprintf(out, "%s %s %d %d\n", signature, name, line, f->bci);
}

static void serve(jvmtiEnv *agent, JNIEnv *env, void *arg)
{
	(void)agent, (void)arg;
	char path[4200], line[256];
	snprintf(path, sizeof path, "%s/ask", folder);
	FILE *in = fopen(path, "r");
	snprintf(path, sizeof path, "%s/answer", folder);
	FILE *out = fopen(path, "w");
	while (in && out && fgets(line, sizeof line, in)) {
		if (strncmp(line, "hold ", 5) == 0) {
			atomic_store(&state, ASKED);
			int want = ASKED, failed = syscall(SYS_tgkill, getpid(), atoi(line + 5), SIGPROF);
			// A thread may be held up for long; one that has ended has no answer.
			for (int i = 0; !failed && i < 100000 && atomic_load(&state) != HELD; i++) {
				nap(50000);
			}
			if (atomic_compare_exchange_strong(&state, &want, NONE)) {
				fprintf(out, "none\n\n");
			} else {
				fprintf(out, "%d\n\n", trace.count);
			}
		} else {
			jint count = trace.count;
			int want = HELD;
			if (atomic_compare_exchange_strong(&state, &want, GO)) {
				while (atomic_load(&state) != NONE) {
					nap(20000);
				}
			}
			(*env)->PushLocalFrame(env, 4096);
			for (int i = 0; i < count; i++) {
				tell(out, &frames[i]);
			}
			(*env)->PopLocalFrame(env, NULL);
			fprintf(out, "\n");
		}
		fflush(out);
	}
}

// AsyncGetCallTrace tells no method that has no ID yet.
static void JNICALL onClass(jvmtiEnv *agent, JNIEnv *env, jthread thread, jclass class)
{
	(void)env, (void)thread;
	jint n;
	jmethodID *ids;
	if ((*agent)->GetClassMethods(agent, class, &n, &ids) == 0) {
		(*agent)->Deallocate(agent, (unsigned char *)ids);
	}
}

static void JNICALL onLoad(jvmtiEnv *agent, JNIEnv *env, jthread thread, jclass class)
{
	(void)agent, (void)env, (void)thread, (void)class; // without it JVMTI does not prepare for AsyncGetCallTrace
}

static void JNICALL onInit(jvmtiEnv *agent, JNIEnv *env, jthread thread)
{
	(void)thread;
	jint n;
	jclass *classes;
	if ((*agent)->GetLoadedClasses(agent, &n, &classes) == 0) {
		for (int i = 0; i < n; i++) {
			onClass(agent, env, NULL, classes[i]);
			(*env)->DeleteLocalRef(env, classes[i]);
		}
	}
	struct sigaction a = {0};
	a.sa_sigaction = onSignal;
	a.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGPROF, &a, NULL);
	jclass type = (*env)->FindClass(env, "java/lang/Thread");
	jmethodID make = (*env)->GetMethodID(env, type, "<init>", "(Ljava/lang/String;)V");
	jobject server = (*env)->NewObject(env, type, make, (*env)->NewStringUTF(env, "moments"));
	(*agent)->RunAgentThread(agent, server, serve, NULL, JVMTI_THREAD_NORM_PRIORITY);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	machine = vm;
	snprintf(folder, sizeof folder, "%s", options);
	void *lib = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
	*(void **)&get = dlsym(lib ? lib : RTLD_DEFAULT, "AsyncGetCallTrace");
	if (!get || (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK) {
		return JNI_ERR;
	}
	jvmtiCapabilities can = {0};
	can.can_get_line_numbers = 1;
	(*ti)->AddCapabilities(ti, &can);
	jvmtiEventCallbacks on = {0};
	on.ClassPrepare = onClass;
	on.ClassLoad = onLoad;
	on.VMInit = onInit;
	(*ti)->SetEventCallbacks(ti, &on, sizeof on);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_LOAD, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	return JNI_OK;
}

// Busy.back calls Java from C.
JNIEXPORT jint JNICALL Java_Busy_back(JNIEnv *env, jclass class, jobject task, jint n)
{
	(void)class;
	jclass type = (*env)->GetObjectClass(env, task);
	jmethodID apply = (*env)->GetMethodID(env, type, "applyAsInt", "(I)I");
	jint result = (*env)->CallIntMethod(env, task, apply, n);
	(*env)->DeleteLocalRef(env, type);
	return result;
}
