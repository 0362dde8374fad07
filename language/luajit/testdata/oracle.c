/* A native extension of Lua for LuaJIT. Its handler of SIGUSR2 writes what Lua's own functions say of
   the calls of all states that run, wherever the thread is, and of the coroutines that were made, and says it once more when the next
   instruction of Lua is run: a line "now" or "next", a line "state" for each state, the innermost first,
   a call a line, as "Lua<tab>source<tab>line<tab>name" or "C<tab><tab><tab>name", and an empty line. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lua.h"
#include "lauxlib.h"

static int out = -1;
static lua_State *running[1000]; /* the outermost first */
static volatile int states;
static volatile sig_atomic_t armed;
static lua_State *volatile made[1000]; /* by oracle.create */

static void say(const char *text) {
	if (write(out, text, strlen(text)) < 0)
		_exit(3);
}

/* The name of a file, or how Lua writes a chunk that is none. */
static const char *source(lua_Debug *ar) { return strchr("@=", *ar->source) ? ar->source + 1 : ar->short_src; }

/* What coroutine.status says of a coroutine, for the state that runs. */
static const char *status(lua_State *L, lua_State *co) {
	lua_Debug ar;
	if (lua_status(co) != 0)
		return lua_status(co) == LUA_YIELD ? "suspended" : "dead";
	if (lua_getstack(co, 0, &ar))
		return co == L ? "running" : "normal";
	return lua_gettop(co) == 0 ? "dead" : "suspended";
}

/* Writes what a coroutine is, and a call a line: "C" or "Lua", source, line, the line where the function
   begins, what its name is, its name. */
static size_t tell_coroutine(lua_State *co, char *text, size_t size) {
	size_t used = 0;
	int level;
	lua_Debug ar;
	const char *state = status(running[states - 1], co);
	if (!strcmp(state, "dead"))
		return 0;
	used += sprintf(text, "coroutine\t%p\t%s\n", (void *)co, state);
	for (level = 0; strcmp(state, "running") && used + 5000 < size && lua_getstack(co, level, &ar); level++) {
		lua_getinfo(co, "Sln", &ar);
		if (strcmp(ar.what, "tail"))
			used += snprintf(text + used, 5000, "call\t%s\t%s\t%d\t%d\t%s\t%s\n", ar.what, source(&ar), ar.currentline, ar.linedefined, ar.namewhat, ar.name ? ar.name : "");
	}
	return used;
}

static void tell_coroutines(void) {
	static char text[1 << 20];
	size_t used = 0;
	int i;
	for (i = 0; i < sizeof made / sizeof *made; i++)
		if (made[i])
			used += tell_coroutine(made[i], text + used, sizeof text - used);
	text[used] = 0;
	say(text);
}

static void tell_all(const char *when, const char *end) {
	static char text[1 << 20];
	size_t used = 0;
	int i, level;
	used += sprintf(text, "%s\n", when);
	for (i = states - 1; i >= 0; i--) {
		lua_Debug ar;
		used += sprintf(text + used, "state\n");
		for (level = 0; used < sizeof text - 5000 && lua_getstack(running[i], level, &ar); level++) {
			lua_getinfo(running[i], "Sln", &ar);
			if (!strcmp(ar.what, "C"))
				used += snprintf(text + used, 5000, "C\t\t\t%s\n", ar.name ? ar.name : "");
			else
				used += snprintf(text + used, 5000, "Lua\t%s\t%d\t%s\n", source(&ar), ar.currentline, ar.name ? ar.name : "");
		}
	}
	strcpy(text + used, end);
	say(text);
}

static void next_one(lua_State *L, lua_Debug *ar) {
	lua_sethook(L, NULL, 0, 0);
	if (armed) {
		armed = 0;
		tell_all("next", "\n");
	}
}

static sigjmp_buf failed;
static void fails(int sig) { siglongjmp(failed, 1); }

static void tell(int sig) {
	/* LuaJIT notes only now and then where its innermost function is. */
	struct sigaction sa, before;
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = fails;
	sigaction(SIGSEGV, &sa, &before);
	if (!sigsetjmp(failed, 1))
		tell_coroutines(), tell_all("now", "");
	sigaction(SIGSEGV, &before, NULL);
	armed = 1;
	lua_sethook(running[0], next_one, LUA_MASKCOUNT | LUA_MASKCALL | LUA_MASKRET, 1);
}

/* oracle.create(function): as coroutine.create; the handler writes of the coroutine until
   oracle.forget(coroutine). */
static int o_create(lua_State *L) {
	lua_State *co;
	int i = 0;
	luaL_checktype(L, 1, LUA_TFUNCTION);
	while (made[i])
		if (++i == sizeof made / sizeof *made)
			return luaL_error(L, "too many coroutines");
	co = lua_newthread(L);
	lua_pushvalue(L, 1);
	lua_xmove(L, co, 1);
	made[i] = co;
	return 1;
}
static int o_forget(lua_State *L) {
	int i;
	for (i = 0; i < sizeof made / sizeof *made; i++)
		if (made[i] == lua_tothread(L, 1))
			made[i] = NULL;
	return 0;
}

/* oracle.enter(coroutine) says that it is about to run, oracle.leave(...) that it does not any more; it
   returns what it was given. */
static int o_enter(lua_State *L) {
	running[states] = lua_tothread(L, 1);
	states++;
	return 0;
}
static int o_leave(lua_State *L) {
	states--;
	return lua_gettop(L);
}

/* oracle.call(function, ...) calls it from C; oracle.attempt(function, ...) in protected mode;
   oracle.protected(function) from a function of C that is run in protected mode. */
static int o_call(lua_State *L) {
	lua_call(L, lua_gettop(L) - 1, 1);
	return 1;
}
static int o_attempt(lua_State *L) {
	lua_pushboolean(L, lua_pcall(L, lua_gettop(L) - 1, 1, 0) == 0);
	return 1;
}
static int within(lua_State *L) {
	lua_getglobal(L, "work");
	lua_call(L, 0, 0);
	return 0;
}
static int o_protected(lua_State *L) {
	lua_pushboolean(L, lua_cpcall(L, within, NULL) == 0);
	return 1;
}
int o_callback(int (*f)(int), int n) { return f(n) + f(n); }

/* oracle.tell(traceback) writes a text, the one of debug.traceback. oracle.rest() waits for ever. */
static int o_tell(lua_State *L) {
	say(luaL_checkstring(L, 1));
	say("\n\n");
	return 0;
}
static int o_rest(lua_State *L) {
	if (write(1, "ready\n", 6) < 0)
		_exit(3);
	for (;;)
		pause();
}

int luaopen_oracle(lua_State *L) {
	static const luaL_Reg list[] = {{"create", o_create}, {"forget", o_forget}, {"enter", o_enter}, {"leave", o_leave}, {"call", o_call}, {"attempt", o_attempt},
		{"protected", o_protected}, {"tell", o_tell}, {"rest", o_rest}, {NULL, NULL}};
	const luaL_Reg *f;
	struct sigaction sa;
	const char *path = getenv("ORACLE");
	if (path)
		out = open(path, O_WRONLY | O_APPEND);
	running[0] = L;
	states = 1;
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = tell;
	sa.sa_flags = SA_RESTART;
	sigaction(SIGUSR2, &sa, NULL);
	lua_newtable(L);
	for (f = list; f->name; f++) {
		lua_pushcfunction(L, f->func);
		lua_setfield(L, -2, f->name);
	}
	return 1;
}
