/* Prints the layout of Lua's structures, as the headers of a release's sources have it. See
   README.md. */
#include <stddef.h>
#include <stdio.h>
#include "lua.h"
#include "lobject.h"
#include "lstate.h"
#include "lfunc.h"
#include "lgc.h"
#include "ltm.h"
#include "lopcodes.c"
#if LUA_VERSION_NUM >= 504
#include "lopnames.h"
#define luaP_opnames opnames
#endif

#define FIELD(name, type, member) printf("%s %zu\n", name, offsetof(type, member))
#define NUMBER(name, value) printf("%s %lu\n", name, (unsigned long)(value))

/* The instructions in the order of their numbers; an asterisk is behind the ones that change A. */
static void instructions(void) {
	int i;
	for (i = 0; i < NUM_OPCODES; i++)
		printf("%s%s ", luaP_opnames[i], testAMode(i) ? "*" : "");
	printf("\n");
}

int main(int argc, char **argv) {
	if (argc > 1) {
		instructions();
		return 0;
	}
	NUMBER("version", LUA_VERSION_NUM);
	FIELD("object.next", GCheader, next);
	FIELD("object.type", GCheader, tt);
	FIELD("object.marked", GCheader, marked);
	NUMBER("object.thread", LUA_TTHREAD);
	NUMBER("value", sizeof(TValue));
#if LUA_VERSION_NUM == 501
	FIELD("value.type", TValue, tt);
	NUMBER("value.type.size", sizeof(((TValue *)0)->tt));
#else
	FIELD("value.type", TValue, tt_);
	NUMBER("value.type.size", sizeof(((TValue *)0)->tt_));
#endif
	NUMBER("type.string", LUA_TSTRING);
	NUMBER("type.table", LUA_TTABLE);
	NUMBER("type.function", LUA_TFUNCTION);

	FIELD("state.status", lua_State, status);
	NUMBER("state.yielded", LUA_YIELD);
	FIELD("state.global", lua_State, l_G);
	FIELD("state.call", lua_State, ci);
	FIELD("state.stack", lua_State, stack);
	FIELD("state.jump", lua_State, errorJmp);
	FIELD("state.base", lua_State, base_ci);
	FIELD("state.top", lua_State, top);
#if LUA_VERSION_NUM == 501
	FIELD("state.savedpc", lua_State, savedpc);
	FIELD("state.slots", lua_State, base);
	NUMBER("call", sizeof(CallInfo));
	FIELD("call.savedpc", CallInfo, savedpc);
	FIELD("call.tails", CallInfo, tailcalls);
	NUMBER("op.call", OP_CALL);
	NUMBER("op.tailcall", OP_TAILCALL);
#else
	FIELD("call.previous", CallInfo, previous);
	FIELD("call.savedpc", CallInfo, u.l.savedpc);
	FIELD("call.status", CallInfo, callstatus);
	NUMBER("call.status.size", sizeof(((CallInfo *)0)->callstatus));
	NUMBER("call.tail", CIST_TAIL);
	NUMBER("call.hooked", CIST_HOOKED);
#ifdef CIST_FIN
	NUMBER("call.finalizer", CIST_FIN);
#endif
#ifdef CIST_FRESH
	NUMBER("call.fresh", CIST_FRESH);
#elif defined CIST_REENTRY
	NUMBER("call.reentry", CIST_REENTRY);
#endif
#endif
	FIELD("call.func", CallInfo, func);

#if LUA_VERSION_NUM >= 505
	FIELD("global.main", global_State, mainth.l);
	NUMBER("global.main.within", 1); /* the state itself, and no pointer to it */
#else
	FIELD("global.main", global_State, mainthread);
#endif
	FIELD("global.white", global_State, currentwhite);
	NUMBER("global.white.bits", WHITEBITS);
	FIELD("global.registry", global_State, l_registry);
#if LUA_VERSION_NUM == 501
	FIELD("global.objects", global_State, rootgc);
	FIELD("closure.isc", CClosure, isC);
#else
	FIELD("global.objects", global_State, allgc);
#endif

	FIELD("closure.c", CClosure, f);
	FIELD("closure.proto", LClosure, p);
	FIELD("proto.code", Proto, code);
	FIELD("proto.size", Proto, sizecode);
	FIELD("proto.lines", Proto, lineinfo);
	FIELD("proto.lines.size", Proto, sizelineinfo);
#if LUA_VERSION_NUM >= 504
	FIELD("proto.absolute", Proto, abslineinfo);
	FIELD("proto.absolute.size", Proto, sizeabslineinfo);
#endif
	FIELD("proto.line", Proto, linedefined);
	FIELD("proto.source", Proto, source);
	FIELD("proto.constants", Proto, k);
	FIELD("proto.constants.size", Proto, sizek);
	FIELD("proto.variables", Proto, locvars);
	FIELD("proto.variables.size", Proto, sizelocvars);
	NUMBER("variable", sizeof(LocVar));
	FIELD("variable.name", LocVar, varname);
	FIELD("variable.begin", LocVar, startpc);
	FIELD("variable.end", LocVar, endpc);
	FIELD("proto.upvalues", Proto, upvalues);
	FIELD("proto.upvalues.size", Proto, sizeupvalues);
#if LUA_VERSION_NUM == 501
	FIELD("proto.functions", Proto, p);
	FIELD("proto.functions.size", Proto, sizep);
	FIELD("proto.nups", Proto, nups);
#endif
	NUMBER("upvalue", sizeof(*((Proto *)0)->upvalues)); /* its name comes first */

	NUMBER("code.op.bits", SIZE_OP);
	NUMBER("code.a", POS_A);
	NUMBER("code.a.bits", SIZE_A);
	NUMBER("code.b", POS_B);
	NUMBER("code.b.bits", SIZE_B);
	NUMBER("code.c", POS_C);
	NUMBER("code.c.bits", SIZE_C);
	NUMBER("code.bx", POS_Bx);
	NUMBER("code.bx.bits", SIZE_Bx);
#ifdef POS_Ax
	NUMBER("code.ax", POS_Ax);
	NUMBER("code.ax.bits", SIZE_Ax);
#endif
#if LUA_VERSION_NUM >= 504
	NUMBER("code.jump", POS_sJ);
	NUMBER("code.jump.bits", SIZE_sJ);
	NUMBER("code.jump.zero", OFFSET_sJ);
	NUMBER("code.event.add", TM_ADD);
#else
	NUMBER("code.jump", POS_Bx);
	NUMBER("code.jump.bits", SIZE_Bx);
	NUMBER("code.jump.zero", MAXARG_sBx);
#endif

#if LUA_VERSION_NUM <= 502
	FIELD("string.length", TString, tsv.len);
	NUMBER("string.text", sizeof(TString));
#elif LUA_VERSION_NUM == 503
	FIELD("string.short", TString, shrlen);
	FIELD("string.length", TString, u.lnglen);
	NUMBER("string.text", sizeof(UTString));
#else
	FIELD("string.short", TString, shrlen);
	FIELD("string.length", TString, u.lnglen);
	FIELD("string.text", TString, contents);
#if LUA_VERSION_NUM >= 505
	FIELD("string.pointer", TString, contents);
#endif
#endif

	FIELD("table.logsize", Table, lsizenode);
	FIELD("table.nodes", Table, node);
	NUMBER("node", sizeof(Node));
	FIELD("node.value", Node, i_val);
#if LUA_VERSION_NUM <= 503
	FIELD("node.key", Node, i_key.tvk);
#if LUA_VERSION_NUM == 501
	printf("node.key.type %zu\n", offsetof(Node, i_key.tvk) + offsetof(TValue, tt));
#else
	printf("node.key.type %zu\n", offsetof(Node, i_key.tvk) + offsetof(TValue, tt_));
#endif
#else
	FIELD("node.key", Node, u.key_val);
	FIELD("node.key.type", Node, u.key_tt);
#endif
	return 0;
}
