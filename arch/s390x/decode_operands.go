package s390x

import (
	"golang.org/x/arch/s390x/s390xasm"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// number returns the general or floating-point register that an argument is.
func number(a s390xasm.Arg) dataflow.Reg {
	switch r, ok := a.(s390xasm.Reg); {
	case ok && r <= s390xasm.R15:
		return dataflow.Reg(r - s390xasm.R0)
	case ok && r >= s390xasm.F0 && r <= s390xasm.F15:
		return dataflow.Reg(fprs[r-s390xasm.F0])
	}
	return dataflow.None
}

// vector returns the number of the vector register that an argument is, else 32.
func vector(a s390xasm.Arg) int {
	if v, ok := a.(s390xasm.VReg); ok {
		return int(v - s390xasm.V0)
	}
	return 32
}

// pair returns a general register and the odd one that it forms a pair with.
func pair(r dataflow.Reg) dataflow.Set { return r.Bit() | (r|1).Bit()&(1<<F0-1) }

// both returns the general and the floating-point register of a number.
func both(r dataflow.Reg) dataflow.Set { return r.Bit()&^sp.Bit() | fpr(r).Bit() }

// next returns the floating-point register that forms a pair with f: its number is larger by two.
func next(f dataflow.Reg) dataflow.Reg {
	for n := range dataflow.Reg(14) {
		if fpr(n) == f {
			return fpr(n + 2)
		}
	}
	return dataflow.None
}

// readsOnly reports whether an instruction writes no register that is followed,
// although its first operand may be one.
func readsOnly(op s390xasm.Op) bool {
	switch op {
	// Comparisons and tests.
	case s390xasm.C, s390xasm.CR, s390xasm.CY, s390xasm.CG, s390xasm.CGR, s390xasm.CGF, s390xasm.CGFR,
		s390xasm.CH, s390xasm.CHY, s390xasm.CGH, s390xasm.CHI, s390xasm.CGHI, s390xasm.CHRL, s390xasm.CGHRL,
		s390xasm.CHF, s390xasm.CHHR, s390xasm.CHLR, s390xasm.CFI, s390xasm.CGFI, s390xasm.CIH,
		s390xasm.CL, s390xasm.CLR, s390xasm.CLY, s390xasm.CLG, s390xasm.CLGR, s390xasm.CLGF, s390xasm.CLGFR,
		s390xasm.CLM, s390xasm.CLMY, s390xasm.CLMH, s390xasm.CLHF, s390xasm.CLHHR, s390xasm.CLHLR,
		s390xasm.CLFI, s390xasm.CLGFI, s390xasm.CLIH, s390xasm.CLRL, s390xasm.CLHRL, s390xasm.CLGRL, s390xasm.CLGHRL, s390xasm.CLGFRL,
		s390xasm.CRL, s390xasm.CGRL, s390xasm.CGFRL,
		s390xasm.CRT, s390xasm.CGRT, s390xasm.CIT, s390xasm.CGIT, s390xasm.CLRT, s390xasm.CLGRT, s390xasm.CLT, s390xasm.CLGT, s390xasm.CLFIT, s390xasm.CLGIT,
		s390xasm.TMHH, s390xasm.TMHL, s390xasm.TMLH, s390xasm.TMLL, s390xasm.TMH, s390xasm.TML,
		s390xasm.CXBR, s390xasm.CXTR, s390xasm.CXR, s390xasm.CDB, s390xasm.CDBR, s390xasm.CDTR, s390xasm.CD, s390xasm.CDR,
		s390xasm.CEB, s390xasm.CEBR, s390xasm.CE, s390xasm.CER, s390xasm.CEXTR, s390xasm.CEDTR,
		s390xasm.KXBR, s390xasm.KXTR, s390xasm.KDB, s390xasm.KDBR, s390xasm.KDTR, s390xasm.KEB, s390xasm.KEBR,
		s390xasm.TCXB, s390xasm.TCDB, s390xasm.TCEB, s390xasm.TDCXT, s390xasm.TDCDT, s390xasm.TDCET, s390xasm.TDGXT, s390xasm.TDGDT, s390xasm.TDGET,
		s390xasm.VEC, s390xasm.VECL, s390xasm.WFC, s390xasm.WFK, s390xasm.VTM, s390xasm.VTP, s390xasm.VCP:
		return true
	// Stores.
	case s390xasm.ST, s390xasm.STY, s390xasm.STG, s390xasm.STC, s390xasm.STCY, s390xasm.STCH, s390xasm.STCM, s390xasm.STCMY, s390xasm.STCMH,
		s390xasm.STH, s390xasm.STHY, s390xasm.STHH, s390xasm.STHRL, s390xasm.STFH, s390xasm.STOC, s390xasm.STOCG, s390xasm.STOCFH,
		s390xasm.STM, s390xasm.STMY, s390xasm.STMG, s390xasm.STMH, s390xasm.STPQ, s390xasm.STRL, s390xasm.STGRL,
		s390xasm.STRV, s390xasm.STRVG, s390xasm.STRVH, s390xasm.STURA, s390xasm.STURG, s390xasm.STGSC, s390xasm.NTSTG,
		s390xasm.STD, s390xasm.STDY, s390xasm.STE, s390xasm.STEY, s390xasm.CVD, s390xasm.CVDY, s390xasm.CVDG,
		s390xasm.CPXT, s390xasm.CPDT, s390xasm.CZXT, s390xasm.CZDT,
		s390xasm.VST, s390xasm.VSTEB, s390xasm.VSTEH, s390xasm.VSTEF, s390xasm.VSTEG, s390xasm.VSTM, s390xasm.VSTL, s390xasm.VSTRL, s390xasm.VSTRLR,
		s390xasm.VSTEBRH, s390xasm.VSTEBRF, s390xasm.VSTEBRG, s390xasm.VSTBR, s390xasm.VSTER, s390xasm.VSCEF, s390xasm.VSCEG:
		return true
	// Of the processor's state, and what executes another instruction.
	case s390xasm.EX, s390xasm.EXRL, s390xasm.SPM, s390xasm.SFPC, s390xasm.SFASR, s390xasm.LGSC, s390xasm.PPA, s390xasm.PTF, s390xasm.MVPG,
		s390xasm.SSAR, s390xasm.SSAIR, s390xasm.TRACE, s390xasm.TRACG, s390xasm.SIGP:
		return true
	}
	return false
}

// extended reports whether the floating-point register that an instruction
// writes stands for a pair.
func extended(op s390xasm.Op) bool {
	switch op {
	case s390xasm.AXBR, s390xasm.AXTR, s390xasm.AXTRA, s390xasm.AXR, s390xasm.SXBR, s390xasm.SXTR, s390xasm.SXTRA, s390xasm.SXR,
		s390xasm.MXBR, s390xasm.MXTR, s390xasm.MXTRA, s390xasm.MXR, s390xasm.MXDB, s390xasm.MXDBR, s390xasm.MXD, s390xasm.MXDR,
		s390xasm.DXBR, s390xasm.DXTR, s390xasm.DXTRA, s390xasm.DXR, s390xasm.SQXBR, s390xasm.SQXR,
		s390xasm.CXFBR, s390xasm.CXFBRA, s390xasm.CXFTR, s390xasm.CXFR, s390xasm.CXGBR, s390xasm.CXGBRA, s390xasm.CXGTR, s390xasm.CXGTRA, s390xasm.CXGR,
		s390xasm.CXLFBR, s390xasm.CXLFTR, s390xasm.CXLGBR, s390xasm.CXLGTR, s390xasm.CXPT, s390xasm.CXSTR, s390xasm.CXUTR, s390xasm.CXZT,
		s390xasm.LXR, s390xasm.LTXBR, s390xasm.LTXTR, s390xasm.LTXR, s390xasm.LCXBR, s390xasm.LCXR, s390xasm.LNXBR, s390xasm.LNXR, s390xasm.LPXBR, s390xasm.LPXR,
		s390xasm.LXDB, s390xasm.LXDBR, s390xasm.LXDTR, s390xasm.LXD, s390xasm.LXDR, s390xasm.LXEB, s390xasm.LXEBR, s390xasm.LXE, s390xasm.LXER,
		s390xasm.LDXBR, s390xasm.LDXBRA, s390xasm.LDXTR, s390xasm.LEXBR, s390xasm.LEXBRA, s390xasm.LZXR,
		s390xasm.FIXBR, s390xasm.FIXBRA, s390xasm.FIXTR, s390xasm.FIXR, s390xasm.IEXTR, s390xasm.QAXTR, s390xasm.RRXTR, s390xasm.SLXT, s390xasm.SRXT,
		s390xasm.MAY, s390xasm.MAYR, s390xasm.MY, s390xasm.MYR:
		return true
	}
	return false
}
