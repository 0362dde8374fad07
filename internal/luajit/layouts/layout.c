/* Prints the layout of LuaJIT's structures, as the headers of its sources have it. See README.md. */
#include <stddef.h>
#include <stdio.h>
#include "lj_obj.h"
#include "lj_frame.h"
#include "lj_jit.h"
#include "lj_dispatch.h"
#define F(name,type,member) printf("%s %zu\n", name, offsetof(type, member))
#define N(name,v) printf("%s %lu\n", name, (unsigned long)(v))
int main(void) {
	N("gc64", LJ_GC64);
	N("state", sizeof(lua_State));
	F("state.type", lua_State, gct);
	F("state.status", lua_State, status);
	F("state.global", lua_State, glref);
	F("state.base", lua_State, base);
	F("state.top", lua_State, top);
	F("state.maxstack", lua_State, maxstack);
	F("state.stack", lua_State, stack);
	F("state.cframe", lua_State, cframe);
	F("state.stacksize", lua_State, stacksize);
	F("global.white", global_State, gc.currentwhite);
	F("global.root", global_State, gc.root);
	F("global.vmstate", global_State, vmstate);
	F("global.main", global_State, mainthref);
	F("global.registry", global_State, registrytv);
	F("global.current", global_State, cur_L);
	F("global.jit_base", global_State, jit_base);
	F("global.names", global_State, gcroot);
	N("global.g", offsetof(GG_State, g));
	N("global.jit", offsetof(GG_State, J)-offsetof(GG_State, g));
	N("global.dispatch", GG_G2DISP);
	F("jit.trace", jit_State, trace);
	F("jit.sizetrace", jit_State, sizetrace);
	F("jit.parent", jit_State, parent);
	F("jit.exitno", jit_State, exitno);
	F("jit.mcarea", jit_State, mcarea);
	F("jit.szmcarea", jit_State, szmcarea);
	F("proto.sizebc", GCproto, sizebc);
	F("proto.k", GCproto, k);
	F("proto.sizekgc", GCproto, sizekgc);
	F("proto.sizeuv", GCproto, sizeuv);
	F("proto.chunkname", GCproto, chunkname);
	F("proto.firstline", GCproto, firstline);
	F("proto.numline", GCproto, numline);
	F("proto.lineinfo", GCproto, lineinfo);
	F("proto.uvinfo", GCproto, uvinfo);
	F("proto.varinfo", GCproto, varinfo);
	N("proto", sizeof(GCproto));
	F("func.ffid", GCfuncC, ffid);
	F("func.pc", GCfuncC, pc);
	F("func.f", GCfuncC, f);
	F("str.len", GCstr, len);
	N("str", sizeof(GCstr));
	F("tab.node", GCtab, node);
	F("tab.hmask", GCtab, hmask);
	N("node", sizeof(Node));
	F("trace.nins", GCtrace, nins);
	F("trace.ir", GCtrace, ir);
	F("trace.nsnap", GCtrace, nsnap);
	F("trace.snap", GCtrace, snap);
	F("trace.snapmap", GCtrace, snapmap);
	F("trace.nsnapmap", GCtrace, nsnapmap);
	F("trace.nk", GCtrace, nk);
	F("trace.startpt", GCtrace, startpt);
	F("trace.startpc", GCtrace, startpc);
	F("trace.startins", GCtrace, startins);
	F("trace.szmcode", GCtrace, szmcode);
	F("trace.mcode", GCtrace, mcode);
	F("trace.traceno", GCtrace, traceno);
	F("trace.root", GCtrace, root);
	F("trace.linktype", GCtrace, linktype);
	F("snap.mcofs", SnapShot, mcofs);
	F("snap.nent", SnapShot, nent);
	N("snap", sizeof(SnapShot));
	N("ir", sizeof(IRIns));
	N("ir.kgc", IR_KGC); N("ir.knum", IR_KNUM); N("ir.kint64", IR_KINT64);
	N("vmst.c", LJ_VMST_C); N("vmst.exit", LJ_VMST_EXIT);
	N("cframe", CFRAME_SIZE); N("cframe.jit", CFRAME_SIZE_JIT);N("cframe.l", CFRAME_OFS_L);N("cframe.pc", CFRAME_OFS_PC);N("cframe.prev", CFRAME_OFS_PREV);N("cframe.nres", CFRAME_OFS_NRES);
	N("mm.max", MM__MAX);
	N("bc.call", BC_CALL);N("bc.callm", BC_CALLM);N("bc.iterc", BC_ITERC);N("bc.funcf", BC_FUNCF);N("bc.max",BC__MAX);
	return 0;
}
