package s390x

import (
	"fmt"

	"github.com/sfwalk/sfwalk/trad"
)

// access is the expression of an access register that is saved at r15+off: 4
// bytes, which no rule can read.
type access int32

func (x access) Eval(env trad.Env, _ uint64, _ bool) (uint64, error) {
	v, err := wordAt(env, R15, int32(x))
	return v >> 32, err // big-endian: the word's first half
}

func (x access) String() string { return fmt.Sprintf("*(uint32 *)(r15%+d)", int32(x)) }

// wordAt reads the word at reg+off.
func wordAt(env trad.Env, reg trad.Reg, off int32) (uint64, error) {
	v, ok := env.Register(reg)
	if !ok {
		return 0, fmt.Errorf("%s: %w", Arch.RegName(reg), trad.ErrUnavailable)
	}
	return env.Word(v + uint64(int64(off)))
}
