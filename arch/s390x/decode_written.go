package s390x

import (
	"sync"

	"golang.org/x/arch/s390x/s390xasm"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// warm has the decoder make its table, as it does when it is first used, without a lock; from there
// on it only reads.
var warm = sync.OnceFunc(func() { s390xasm.Decode([]byte{0x07, 0x07}) })

// written returns the registers that an instruction writes; it may return too
// many. ok is false for what is no instruction.
func written(key uint16, p []byte) (set dataflow.Set, ok bool) {
	switch writes(key) {
	case writesNone:
		return 0, true
	case writesR1:
		return r1(p).Bit(), true
	case writesR1Low:
		return r1Low(p).Bit(), true
	}
	return writtenByLibrary(p)
}

// What frequent instructions write. The decoder of the library has a linear
// search, so these do without it.
const (
	writesMore = iota
	writesNone
	writesR1    // the general register in bits 8 to 11
	writesR1Low // that in bits 24 to 27
)

// writes classifies frequent instructions by their opcode.
func writes(key uint16) int {
	switch key {
	case 0x1500, 0x1900, 0x4900, 0x5500, 0x5900, // clr, cr, ch, cl, c
		0xa700, 0xa701, 0xa702, 0xa703, 0xa70e, 0xa70f, // tmlh, tmll, tmhh, tmhl, chi, cghi
		0xc20c, 0xc20d, 0xc20e, 0xc20f, // cgfi, cfi, clgfi, clfi
		0xe320, 0xe321, 0xe330, 0xe331, 0xe355, 0xe359, // cg, clg, cgf, clgf, cly, cy
		0xb930, 0xb931, // cgfr, clgfr
		0x9100, 0x9200, 0x9500, 0xeb51, 0xeb52, 0xeb55, // tm, mvi, cli, tmy, mviy, cliy
		0x4000, 0x4200, 0xe370, 0xe372, // sth, stc, sthy, stcy
		0xe544, 0xe554, 0xe555, 0xe558, 0xe559, 0xe55d, // mvhhi, chhsi, clhhsi, cghsi, clghsi, clfhsi
		0xd400, 0xd500, 0xd600, 0xeb6a, 0xeb7a, // nc, clc, oc, asi, agsi
		0xc40b, 0xc40f: // stgrl, strl
		return writesNone
	case 0x1000, 0x1300, 0x1400, 0x1600, 0x1700, 0x1800, 0x1a00, 0x1b00, // lpr, lcr, nr, or, xr, lr, ar, sr
		0x4300, 0x4800, 0x5400, 0x5600, 0x5700, 0x5800, 0x5a00, 0x5b00, // ic, lh, n, o, x, l, a, s
		0x8800, 0x8900, 0x8a00, 0x8b00, // srl, sll, sra, sla
		0xa708, 0xa70a, 0xa70c, 0xa70d, // lhi, ahi, mhi, mghi
		0xa504, 0xa505, 0xa506, 0xa507, 0xa508, 0xa509, 0xa50a, 0xa50b, 0xa50c, 0xa50d, // nihh to nill, oihh to oill, llihh, llihl
		0xc006, 0xc007, 0xc009, 0xc00a, 0xc00b, 0xc00c, 0xc00d, 0xc00e, // xihf, xilf, iilf, nihf, nilf, oihf, oilf, llihf
		0xc200, 0xc201, 0xc205, 0xc209, 0xc20b, // msgfi, msfi, slfi, afi, alfi
		0xc402, 0xc404, 0xc405, 0xc406, 0xc40c, 0xc40d, 0xc40e, // llhrl, lghrl, lhrl, llghrl, lgfrl, lrl, llgfrl
		0xe302, 0xe308, 0xe309, 0xe30a, 0xe30b, 0xe30c, 0xe312, 0xe314, 0xe315, 0xe316, 0xe318, 0xe319, // ltg, ag, sg, alg, slg, msg, lt, lgf, lgh, llgf, agf, sgf
		0xe332, 0xe354, 0xe356, 0xe357, 0xe358, 0xe35a, 0xe35b, 0xe373, 0xe376, 0xe377, 0xe378, // ltgf, ny, oy, xy, ly, ay, sy, icy, lb, lgb, lhy
		0xe380, 0xe381, 0xe382, 0xe390, 0xe391, 0xe394, 0xe395, // ng, og, xg, llgc, llgh, llc, llh
		0xeb0a, 0xeb0b, 0xeb0c, 0xeb0d, 0xeb1c, 0xeb1d, 0xebdc, 0xebdd, 0xebde, 0xebdf, // srag, slag, srlg, sllg, rllg, rll, srak, slak, srlk, sllk
		0xec51, 0xec54, 0xec55, 0xec56, 0xec57, 0xec59, 0xec5d, 0xecd8, 0xecda: // risblg, rnsbg, risbg, rosbg, rxsbg, risbgn, risbhg, ahik, alhsik
		return writesR1
	case 0xb222, 0xb24f, 0xb252, // ipm, ear, msr
		0xb900, 0xb901, 0xb903, 0xb906, 0xb907, 0xb90c, // lpgr, lngr, lcgr, lgbr, lghr, msgr
		0xb912, 0xb914, 0xb916, 0xb917, 0xb918, 0xb919, 0xb926, 0xb927, // ltgfr, lgfr, llgfr, llgtr, agfr, sgfr, lbr, lhr
		0xb980, 0xb981, 0xb982, 0xb984, 0xb985, 0xb994, 0xb995, // ngr, ogr, xgr, llgcr, llghr, llcr, llhr
		0xb9e2, 0xb9e4, 0xb9e6, 0xb9e7, 0xb9f2, 0xb9f4, 0xb9f6, 0xb9f7, 0xb9f8, 0xb9f9, 0xb9fa, 0xb9fb: // locgr, ngrk, ogrk, xgrk, locr, nrk, ork, xrk, ark, srk, alrk, slrk
		return writesR1Low
	}
	return writesMore
}

// writtenByLibrary is written with the library's decoder, for every instruction.
func writtenByLibrary(p []byte) (set dataflow.Set, ok bool) {
	warm()
	in, err := s390xasm.Decode(p)
	if err != nil || in.Op == 0 {
		if p[0] < 2 {
			return 0, false // never given to an instruction
		}
		// A newer one: what stands where most have the register that they write.
		return both(r1(p)) | both(dataflow.Reg(p[len(p)-1]>>4)) | both(dataflow.Reg(p[len(p)-2]>>4)), true
	}
	first, second, third := number(in.Args[0]), number(in.Args[1]), number(in.Args[2])
	switch in.Op {
	case s390xasm.SVC:
		return 1 << R2, true
	case s390xasm.PLO:
		return first.Bit() | third.Bit(), true
	case s390xasm.EDMK:
		return 1 << R1, true
	case s390xasm.TRT, s390xasm.TRTR, s390xasm.CFC:
		return 1<<R1 | 1<<R2 | 1<<R3, true
	case s390xasm.PFPO, s390xasm.PCC, s390xasm.PTFF, s390xasm.CSST, s390xasm.ECTG:
		return 1<<R0 | 1<<R1 | 1<<R2 | 1<<R3 | 1<<F0 | 1<<F2, true
	case s390xasm.LM, s390xasm.LMG, s390xasm.LMY, s390xasm.LMH, s390xasm.LMD:
		for r := first; ; r = (r + 1) & 15 {
			if set |= r.Bit(); r == second {
				return set, true
			}
		}
	case s390xasm.VLM:
		for r, last := vector(in.Args[0]), vector(in.Args[1]); r <= last && r < 16; r++ {
			set |= dataflow.Reg(fprs[r]).Bit()
		}
		return set, true
	case s390xasm.LPD, s390xasm.LPDG, s390xasm.LPQ, s390xasm.CDS, s390xasm.CDSY, s390xasm.CDSG,
		s390xasm.M, s390xasm.MFY, s390xasm.MR, s390xasm.MG, s390xasm.MGRK, s390xasm.ML, s390xasm.MLR, s390xasm.MLG, s390xasm.MLGR,
		s390xasm.D, s390xasm.DR, s390xasm.DL, s390xasm.DLR, s390xasm.DLG, s390xasm.DLGR, s390xasm.DSG, s390xasm.DSGR, s390xasm.DSGF, s390xasm.DSGFR,
		s390xasm.SLDA, s390xasm.SLDL, s390xasm.SRDA, s390xasm.SRDL, s390xasm.FLOGR, s390xasm.CSXTR, s390xasm.CUXTR, s390xasm.ESTA:
		return pair(first), true
	case s390xasm.TRTE, s390xasm.TRTRE, s390xasm.TRE:
		return pair(first) | second.Bit(), true
	case s390xasm.EPSW, s390xasm.SRST, s390xasm.SRSTU, s390xasm.CLST, s390xasm.MVST:
		return first.Bit() | second.Bit(), true
	case s390xasm.MVCL, s390xasm.MVCLE, s390xasm.MVCLU, s390xasm.CLCL, s390xasm.CLCLE, s390xasm.CLCLU, s390xasm.CUSE, s390xasm.CKSM,
		s390xasm.CU12, s390xasm.CU14, s390xasm.CU21, s390xasm.CU24, s390xasm.CU41, s390xasm.CU42,
		s390xasm.TROO, s390xasm.TROT, s390xasm.TRTO, s390xasm.TRTT,
		s390xasm.KM, s390xasm.KMA, s390xasm.KMC, s390xasm.KMF, s390xasm.KMO, s390xasm.KMCTR, s390xasm.KIMD, s390xasm.KLMD, s390xasm.KMAC, s390xasm.KDSA,
		s390xasm.CMPSC, s390xasm.PRNO, s390xasm.DFLTCC, s390xasm.SORTL:
		return pair(first) | pair(second) | pair(third), true
	}
	if readsOnly(in.Op) {
		return 0, true
	}
	if first == dataflow.None {
		if v := vector(in.Args[0]); v < 16 { // holds a floating-point register
			return dataflow.Reg(fprs[v]).Bit(), true
		}
		return 0, true
	}
	if set = first.Bit(); first >= dataflow.Reg(F0) && extended(in.Op) {
		set |= next(first).Bit()
	}
	return set, true
}
