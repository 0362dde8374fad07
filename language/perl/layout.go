package perl

import (
	"embed"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// layout has the offsets of the fields of Perl's structures, bytes, and constants, of one release
// and build.
type layout struct {
	// The struct of an interpreter, in builds with threads alone. Others have variables.
	Interpreter uint64 `table:"interpreter,optional"` // its size
	StackTop    uint64 `table:"interpreter.stack_sp,optional"`
	Op          uint64 `table:"interpreter.op,optional"`
	CurCop      uint64 `table:"interpreter.curcop,optional"`
	StackInfo   uint64 `table:"interpreter.curstackinfo,optional"`
	TopEnv      uint64 `table:"interpreter.top_env,optional"`
	StartEnv    uint64 `table:"interpreter.start_env,optional"`

	SIContexts uint64 `table:"si.cxstack"`
	SIPrev     uint64 `table:"si.prev"`
	SIIndex    uint64 `table:"si.cxix"`
	SIMax      uint64 `table:"si.cxmax"`
	SISub      uint64 `table:"si.cxsubix,optional"`

	Context      uint64 `table:"context"` // the size of one
	ContextType  uint64 `table:"context.type"`
	ContextCop   uint64 `table:"context.oldcop"`
	ContextU16   uint64 `table:"context.u16"`
	ContextRetOp uint64 `table:"context.retop"`
	ContextCV    uint64 `table:"context.cv"`
	ContextName  uint64 `table:"context.namesv"`
	ContextEnv   uint64 `table:"context.topenv"`
	TypeMask     uint64 `table:"context.mask"`
	TypeSub      uint64 `table:"context.sub"`
	TypeFormat   uint64 `table:"context.format"`
	TypeEval     uint64 `table:"context.eval"`
	TypeDefer    uint64 `table:"context.defer,optional"`
	TryBlock     uint64 `table:"context.tryblock"`
	Try          uint64 `table:"context.try,optional"`
	Fake         uint64 `table:"context.fake"`
	OpTypeShift  uint64 `table:"context.optype.shift"`

	EnvPrev uint64 `table:"jmpenv.prev"`

	CopLine   uint64 `table:"cop.line"`
	CopFile   uint64 `table:"cop.file,optional"`   // with threads
	CopFileGV uint64 `table:"cop.filegv,optional"` // without

	OpNext      uint64 `table:"op.next"`
	OpSibling   uint64 `table:"op.sibling"`
	OpTarget    uint64 `table:"op.targ"`
	OpFlags     uint64 `table:"op.flags"`
	OpFirst     uint64 `table:"op.first"`
	OpKids      uint64 `table:"op.kids"`
	OpType      uint64 `table:"op.type"`
	OpTypeBits  uint64 `table:"op.type.bits"`
	OpMore      uint64 `table:"op.moresib"`
	OpMoreBits  uint64 `table:"op.moresib.bits"`
	OpNull      uint64 `table:"op.null"`
	OpNextState uint64 `table:"op.nextstate"`
	OpScope     uint64 `table:"op.scope"`
	OpEntereval uint64 `table:"op.entereval"`
	OpEntersub  uint64 `table:"op.entersub,optional"` // where the function that calls subs has no name

	SVAny      uint64 `table:"sv.any"`
	SVFlags    uint64 `table:"sv.flags"`
	SVU        uint64 `table:"sv.u"`
	SVTypeMask uint64 `table:"sv.typemask"`
	SVPok      uint64 `table:"sv.pok"`
	SVRok      uint64 `table:"sv.rok"`
	SVGP       uint64 `table:"sv.gp"`
	SVTypeCV   uint64 `table:"sv.pvcv"`
	SVTypeGV   uint64 `table:"sv.pvgv"`
	SVTypeHV   uint64 `table:"sv.pvhv"`
	PVLength   uint64 `table:"pv.cur"`

	CVStash   uint64 `table:"cv.stash"`
	CVName    uint64 `table:"cv.gv"`
	CVXSub    uint64 `table:"cv.xsub"`
	CVFlags   uint64 `table:"cv.flags"`
	CVIsXSub  uint64 `table:"cv.isxsub"`
	CVNamed   uint64 `table:"cv.named"`
	CVLexical uint64 `table:"cv.lexical"`

	GVStash uint64 `table:"gv.stash"`
	GVName  uint64 `table:"gv.name"`
	GPEGV   uint64 `table:"gp.egv"`
	GPCV    uint64 `table:"gp.cv"`

	HVAux     uint64 `table:"hv.aux,optional"` // absent where it is behind the array
	HVMax     uint64 `table:"hv.max"`
	HVHasAux  uint64 `table:"hv.hasaux"`
	AuxName   uint64 `table:"hvaux.name"`
	AuxNames  uint64 `table:"hvaux.names"`
	HEKLength uint64 `table:"hek.length"`
	HEKKey    uint64 `table:"hek.key"`
}

//go:embed layouts/*.txt
var layouts embed.FS

// layoutOf returns the layout of a release, 5.minor, with threads or without. A release without a
// table has the layout of the last one before it that has one, with an error that says so.
func layoutOf(minor int, threads bool) (l *layout, err error) {
	suffix := ""
	if threads {
		suffix = "-threads"
	}
	for of := minor; of >= 0; of-- {
		text, wrong := layouts.ReadFile(fmt.Sprintf("layouts/5.%d%s.txt", of, suffix))
		if wrong != nil {
			continue
		}
		l = &layout{}
		if wrong := structs.Fill(string(text), l); wrong != nil {
			return nil, fmt.Errorf("the layout of Perl 5.%d%s: %w", of, suffix, wrong)
		}
		if of != minor {
			err = fmt.Errorf("the layout of Perl 5.%d%s is not known: the one of 5.%d is tried", minor, strings.ReplaceAll(suffix, "-", " with "), of)
		}
		return l, err
	}
	return nil, fmt.Errorf("the layout of Perl 5.%d is not known", minor)
}
