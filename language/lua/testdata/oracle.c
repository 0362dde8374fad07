/* A native extension of Lua. Its handler of SIGUSR2 writes what Lua's own functions say of the calls
   of all states that run, wherever the thread is, and of the coroutines that were made: a line "state" for each
   state, a call a line, as "Lua<tab>source<tab>line" or "C", a line "name<tab>what it is<tab>name" for it,
   and "next<tab>source<tab>line" of the instruction that runs next, and an empty line. */
#include <fcntl.h>
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
static const char *source(lua_Debug *ar) { return strchr("@=", *ar->source) ? ar->source : ar->short_src; }

static void next_one(lua_State *L, lua_Debug *ar) {
	char text[5000];
	lua_sethook(L, NULL, 0, 0);
	if (!armed)
		return;
	armed = 0;
	lua_getinfo(L, "Sl", ar);
	snprintf(text, sizeof text, "next\t%s\t%d\n\n", source(ar), ar->currentline);
	say(text);
}

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

static void tell(int sig) {
	static char text[1 << 20];
	size_t used = 0;
	int i, level;
	for (i = 0; i < sizeof made / sizeof *made; i++)
		if (made[i])
			used += tell_coroutine(made[i], text + used, sizeof text - used);
	for (i = states - 1; i >= 0; i--) {
		lua_Debug ar;
		strcpy(text + used, "state\n");
		used += strlen(text + used);
		for (level = 0; lua_getstack(running[i], level, &ar) && used < sizeof text - 5000; level++) {
			lua_getinfo(running[i], "Sln", &ar);
			if (!strcmp(ar.what, "tail"))
				continue;
			if (!strcmp(ar.what, "C"))
				strcpy(text + used, "C\n");
			else
				snprintf(text + used, 5000, "Lua\t%s\t%d\n", source(&ar), ar.currentline);
			used += strlen(text + used);
			used += snprintf(text + used, 1000, "name\t%s\t%s\n", ar.namewhat, ar.name ? ar.name : "");
		}
	}
	text[used] = 0;
	say(text);
#if LUA_VERSION_NUM == 501
	say("\n"); /* it may leave hooks off for ever when a finalizer fails */
	return;
#endif
	armed = 1;
	for (i = states - 1; i >= 0; i--)
		lua_sethook(running[i], next_one, LUA_MASKCOUNT | LUA_MASKCALL | LUA_MASKRET, 1);
}

static int resumes(lua_State *L, lua_State *co, int n) {
	int status;
	running[states] = co;
	states++;
#if LUA_VERSION_NUM >= 504
	int results;
	status = lua_resume(co, L, n, &results);
#elif LUA_VERSION_NUM >= 502
	status = lua_resume(co, L, n);
#else
	status = lua_resume(co, n);
#endif
	states--;
	return status;
}

/* oracle.resume(coroutine, value): as coroutine.resume, of one value. */
static int o_resume(lua_State *L) {
	lua_State *co = lua_tothread(L, 1);
	int status;
	if (!co || lua_status(co) > LUA_YIELD || lua_status(co) != LUA_YIELD && lua_gettop(co) == 0) {
		lua_pushboolean(L, 0);
		lua_pushliteral(L, "cannot resume");
		return 2;
	}
	lua_settop(L, 2);
	lua_xmove(L, co, 1);
	status = resumes(L, co, 1);
	lua_pushboolean(L, status <= LUA_YIELD);
	if (lua_gettop(co) > 0)
		lua_xmove(co, L, 1);
	else
		lua_pushnil(L);
	lua_settop(co, 0);
	return 2;
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

static int auxwrap(lua_State *L) {
	lua_settop(L, 1);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	o_resume(L);
	if (!lua_toboolean(L, -2))
		return lua_error(L);
	return 1;
}

/* oracle.wrap(function): as coroutine.wrap. */
static int o_wrap(lua_State *L) {
	lua_State *co;
	luaL_checktype(L, 1, LUA_TFUNCTION);
	co = lua_newthread(L);
	lua_pushvalue(L, 1);
	lua_xmove(L, co, 1);
	lua_pushcclosure(L, auxwrap, 1);
	return 1;
}

/* oracle.call(function, ...) calls it from C; oracle.attempt(function, ...) in protected mode. */
static int o_call(lua_State *L) {
	lua_call(L, lua_gettop(L) - 1, 1);
	return 1;
}
static int o_attempt(lua_State *L) {
	lua_pushboolean(L, lua_pcall(L, lua_gettop(L) - 1, 1, 0) == 0);
	return 1;
}

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
	static const luaL_Reg list[] = {{"resume", o_resume}, {"wrap", o_wrap}, {"create", o_create}, {"forget", o_forget}, {"call", o_call}, {"attempt", o_attempt},
		{"tell", o_tell}, {"rest", o_rest}, {NULL, NULL}};
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
