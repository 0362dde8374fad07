/* Prints the layout of perl's structures, as the headers of a release have it. See README.md. */
#define PERL_CORE
#include <stddef.h>
#include <string.h>
#include "EXTERN.h"
#include "perl.h"

#undef printf
#define FIELD(name, type, member) printf("%s %zu\n", name, offsetof(type, member))
#define NUMBER(name, value) printf("%s %lu\n", name, (unsigned long)(value))

#ifdef MULTIPLICITY
#define GLOBAL(name) FIELD("interpreter." #name, struct interpreter, I##name)
#else
#define GLOBAL(name)
#endif

/* Where a field of bits is, of which a program cannot ask the offset: the word of two bytes that has
   it, and the bits. */
#define BITS(name, type, member, all) do { \
	type x; U16 word; size_t i; \
	memset(&x, 0, sizeof x); \
	x.member = all; \
	for (i = 0; i < sizeof x; i += 2) { \
		memcpy(&word, (char *)&x + i, 2); \
		if (word) { NUMBER(name, i); NUMBER(name ".bits", word); } \
	} \
} while (0)

int main(void) {
	NUMBER("version", PERL_VERSION);
#ifdef MULTIPLICITY
	NUMBER("interpreter", sizeof(struct interpreter));
#endif
	GLOBAL(stack_sp);
	GLOBAL(op);
	GLOBAL(curcop);
	GLOBAL(curstackinfo);
	GLOBAL(top_env);
	GLOBAL(start_env);

	FIELD("si.cxstack", PERL_SI, si_cxstack);
	FIELD("si.prev", PERL_SI, si_prev);
	FIELD("si.cxix", PERL_SI, si_cxix);
	FIELD("si.cxmax", PERL_SI, si_cxmax);
#if PERL_VERSION >= 32
	FIELD("si.cxsubix", PERL_SI, si_cxsubix);
#endif

	NUMBER("context", sizeof(PERL_CONTEXT));
	FIELD("context.type", PERL_CONTEXT, cx_type);
	FIELD("context.oldcop", PERL_CONTEXT, blk_oldcop);
	FIELD("context.u16", PERL_CONTEXT, blk_u16);
	FIELD("context.retop", PERL_CONTEXT, blk_sub.retop);
	FIELD("context.cv", PERL_CONTEXT, blk_sub.cv);
	FIELD("context.namesv", PERL_CONTEXT, blk_eval.old_namesv);
	FIELD("context.topenv", PERL_CONTEXT, blk_eval.cur_top_env);
	NUMBER("context.mask", CXTYPEMASK);
	NUMBER("context.sub", CXt_SUB);
	NUMBER("context.format", CXt_FORMAT);
	NUMBER("context.eval", CXt_EVAL);
#ifdef CXt_DEFER
	NUMBER("context.defer", CXt_DEFER);
#endif
	NUMBER("context.tryblock", CXp_TRYBLOCK);
#ifdef CXp_TRY
	NUMBER("context.try", CXp_TRY);
#endif
	NUMBER("context.fake", CXp_SUB_RE_FAKE);
	{
		/* How far the type of an eval's op is shifted in its word. */
		PERL_CONTEXT cx;
		int shift;
		for (shift = 0; shift < 16; shift++) {
			cx.blk_u16 = 1 << shift;
			if (CxOLD_OP_TYPE(&cx) == 1)
				NUMBER("context.optype.shift", shift);
		}
	}

	FIELD("jmpenv.prev", JMPENV, je_prev);

	FIELD("cop.line", COP, cop_line);
#ifdef USE_ITHREADS
	FIELD("cop.file", COP, cop_file);
#else
	FIELD("cop.filegv", COP, cop_filegv);
#endif

	FIELD("op.next", OP, op_next);
#ifdef PERL_OP_PARENT
	FIELD("op.sibling", OP, op_sibparent);
#else
	FIELD("op.sibling", OP, op_sibling);
#endif
	FIELD("op.targ", OP, op_targ);
	FIELD("op.flags", OP, op_flags);
	FIELD("op.first", UNOP, op_first);
	NUMBER("op.kids", OPf_KIDS);
	BITS("op.type", OP, op_type, 0x1ff);
	BITS("op.moresib", OP, op_moresib, 1);
	NUMBER("op.null", OP_NULL);
	NUMBER("op.nextstate", OP_NEXTSTATE);
	NUMBER("op.scope", OP_SCOPE);
	NUMBER("op.entereval", OP_ENTEREVAL);
	NUMBER("op.entersub", OP_ENTERSUB);

	FIELD("sv.any", SV, sv_any);
	FIELD("sv.flags", SV, sv_flags);
	FIELD("sv.u", SV, sv_u);
	NUMBER("sv.typemask", SVTYPEMASK);
	NUMBER("sv.pok", SVp_POK);
	NUMBER("sv.rok", SVf_ROK);
	NUMBER("sv.gp", SVpgv_GP);
	NUMBER("sv.pvcv", SVt_PVCV);
	NUMBER("sv.pvgv", SVt_PVGV);
	NUMBER("sv.pvhv", SVt_PVHV);
	FIELD("pv.cur", XPV, xpv_cur);

	FIELD("cv.stash", XPVCV, xcv_stash);
	FIELD("cv.gv", XPVCV, xcv_gv_u);
	FIELD("cv.xsub", XPVCV, xcv_root_u);
	FIELD("cv.flags", XPVCV, xcv_flags);
	NUMBER("cv.isxsub", CVf_ISXSUB);
	NUMBER("cv.named", CVf_NAMED);
	NUMBER("cv.lexical", CVf_LEXICAL);

	FIELD("gv.stash", XPVGV, xnv_u.xgv_stash);
	FIELD("gv.name", XPVGV, xiv_u.xivu_namehek);
	FIELD("gp.egv", GP, gp_egv);
	FIELD("gp.cv", GP, gp_cv);

#if PERL_VERSION >= 36
	/* The part that not all have is in the body; else it is behind the array. */
	FIELD("hv.aux", struct xpvhv_with_aux, xhv_aux);
#endif
	FIELD("hv.max", XPVHV, xhv_max);
#ifdef SVphv_HasAUX
	NUMBER("hv.hasaux", SVphv_HasAUX);
#else
	NUMBER("hv.hasaux", SVf_OOK);
#endif
	FIELD("hvaux.name", struct xpvhv_aux, xhv_name_u);
	FIELD("hvaux.names", struct xpvhv_aux, xhv_name_count);
	FIELD("hek.length", HEK, hek_len);
	FIELD("hek.key", HEK, hek_key);
	return 0;
}
