package goruntime

import (
	"fmt"

	"github.com/sfwalk/sfwalk/trad"
)

// depthExpression is the CFA of a function that has left its stack as asmcgocall does. Near the new
// stack pointer, asmcgocall stores its struct g and the old stack pointer's distance from the
// stack's end.
type depthExpression struct {
	sp       trad.Reg
	g, depth int64 // offsets of the two words from SP
	cfa      int64 // distance from the old stack pointer to the CFA
}

func (e depthExpression) Eval(env trad.Env, _ uint64, _ bool) (uint64, error) {
	sp, ok := env.Register(e.sp)
	if !ok {
		return 0, trad.ErrUnavailable
	}
	g, err := env.Word(sp + uint64(e.g))
	if err != nil {
		return 0, err
	}
	depth, err := env.Word(sp + uint64(e.depth))
	if err != nil {
		return 0, err
	}
	lo, err := env.Word(g + StackLo)
	if err != nil {
		return 0, err
	}
	hi, err := env.Word(g + StackHi)
	if err != nil {
		return 0, err
	}
	if old := hi - depth; hi > lo && depth <= hi-lo {
		return old + uint64(e.cfa), nil
	}
	return 0, fmt.Errorf("%#x below the end of the stack [%#x, %#x) of the goroutine at %#x is not in it", depth, lo, hi, g)
}

func (e depthExpression) String() string {
	return fmt.Sprintf("g.stack.hi-depth%+d with g=[sp%+d] depth=[sp%+d]", e.cfa, e.g, e.depth)
}

// wordExpression is the CFA of a function that has stored its old stack pointer at offset at from
// the new one.
type wordExpression struct {
	sp      trad.Reg
	at, cfa int64
}

func (e wordExpression) Eval(env trad.Env, _ uint64, _ bool) (uint64, error) {
	sp, ok := env.Register(e.sp)
	if !ok {
		return 0, trad.ErrUnavailable
	}
	old, err := env.Word(sp + uint64(e.at))
	return old + uint64(e.cfa), err
}

func (e wordExpression) String() string { return fmt.Sprintf("[sp%+d]%+d", e.at, e.cfa) }
