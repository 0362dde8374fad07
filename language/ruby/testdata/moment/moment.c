// An extension that has Ruby itself tell the stack of a thread. It answers in a file that is mapped.
//
// At any moment: a signal's handler asks by rb_profile_frames, which needs no safe point, and the
// thread then waits in the handler. At moments that the program announces: by rb_make_backtrace,
// and the thread then runs on in C for a while.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ruby.h>
#include <ruby/debug.h>
#include <ruby/thread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { IDLE, ASKED, HELD, GO, DONE, TOLD };
enum { MOST = 4096, TEXT = 1 << 20 };

struct shared {
	atomic_int state, thread; // of a moment
	uint32_t length;          // of text
	char text[TEXT];
	atomic_uint number; // of what was announced: odd while nothing is
	int announcer;
	uint32_t announced;
	char announcement[TEXT];
};

static struct shared *shared;
static VALUE frames[MOST];
static int lines[MOST], count;

static void nap(void)
{
	struct timespec t = {0, 50000};
	nanosleep(&t, NULL);
}

static void onSignal(int number)
{
	int before = errno, want = ASKED;
	(void)number;
	if (atomic_load(&shared->thread) == (int)syscall(SYS_gettid) && atomic_load(&shared->state) == ASKED) {
		count = rb_profile_frames(0, MOST, frames, lines);
		if (atomic_compare_exchange_strong(&shared->state, &want, HELD)) {
			while (atomic_load(&shared->state) != GO) {
				nap();
			}
			atomic_store(&shared->state, DONE);
		}
	}
	errno = before;
}

static void mark(void *none)
{
	(void)none;
	int state = atomic_load(&shared->state);
	for (int i = 0; (state == HELD || state == GO || state == DONE) && i < count; i++) {
		rb_gc_mark(frames[i]);
	}
}

static const rb_data_type_t keeper = {.wrap_struct_name = "moment", .function = {.dmark = mark}};

static VALUE openFile(VALUE self, VALUE path)
{
	int fd = open(StringValueCStr(path), O_RDWR);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || shared == MAP_FAILED) {
		rb_sys_fail("the file cannot be mapped");
	}
	rb_gc_register_mark_object(TypedData_Wrap_Struct(rb_cObject, &keeper, shared));
	struct sigaction action = {.sa_handler = onSignal, .sa_flags = SA_RESTART};
	sigaction(SIGPROF, &action, NULL);
	return self;
}

static void *awaitDone(void *none)
{
	(void)none;
	while (atomic_load(&shared->state) != DONE) {
		nap();
	}
	return NULL;
}

// serve writes what was asked, for ever.
static VALUE serve(VALUE self)
{
	for (;;) {
		rb_thread_call_without_gvl(awaitDone, NULL, RUBY_UBF_IO, NULL);
		VALUE text = rb_str_new("", 0);
		for (int i = 0; i < count; i++) {
			VALUE path = rb_profile_frame_path(frames[i]);
			rb_str_catf(text, "%d\t%" PRIsVALUE "\t%" PRIsVALUE "\n", lines[i], rb_profile_frame_full_label(frames[i]), path);
		}
		shared->length = RSTRING_LEN(text) < TEXT ? RSTRING_LEN(text) : TEXT;
		memcpy(shared->text, RSTRING_PTR(text), shared->length);
		atomic_store(&shared->state, TOLD);
	}
	return self;
}

// announce tells the stack, and then runs for a moment.
static VALUE announce(VALUE self)
{
	VALUE text = rb_ary_join(rb_make_backtrace(), rb_str_new_cstr("\n"));
	shared->announcer = syscall(SYS_gettid);
	shared->announced = RSTRING_LEN(text) < TEXT ? RSTRING_LEN(text) : TEXT;
	memcpy(shared->announcement, RSTRING_PTR(text), shared->announced);
	atomic_fetch_add(&shared->number, 1);
	struct timespec from, now;
	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < 10000000);
	atomic_fetch_add(&shared->number, 1);
	return self;
}

// call calls a block through C's ways to do so.
static VALUE yields(VALUE x)
{
	return rb_yield(x);
}

static VALUE protects(VALUE x)
{
	int state;
	VALUE v = rb_protect(yields, x, &state);
	if (state) {
		rb_set_errinfo(Qnil);
		return Qnil;
	}
	return v;
}

static VALUE nothing(VALUE x)
{
	return x;
}

static VALUE rescued(VALUE x, VALUE error)
{
	(void)error;
	return x;
}

static VALUE iterate(RB_BLOCK_CALL_FUNC_ARGLIST(x, block))
{
	return rb_funcall(block, rb_intern("call"), 1, x);
}

static VALUE call(VALUE self, VALUE x)
{
	switch (NUM2INT(rb_funcall(x, rb_intern("%"), 1, INT2FIX(5)))) {
	case 0: return rb_yield(x);
	case 1: return protects(x);
	case 2: return rb_ensure(yields, x, nothing, x);
	case 3: return rb_rescue(yields, x, rescued, x);
	default: return rb_block_call(rb_ary_new_from_args(2, x, x), rb_intern("map"), 0, NULL, iterate, rb_block_proc());
	}
}

void Init_moment(void)
{
	VALUE m = rb_define_module("Moment");
	rb_define_singleton_method(m, "open", openFile, 1);
	rb_define_singleton_method(m, "serve", serve, 0);
	rb_define_singleton_method(m, "announce", announce, 0);
	rb_define_singleton_method(m, "call", call, 1);
}
