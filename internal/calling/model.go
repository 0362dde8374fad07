package calling

import (
	"math"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/expression"
)

// model has those of C's own types whose sizes differ between processors.
type model struct {
	long, ulong, pointer *abi.Type
	longDouble           *abi.Type
	named                map[string]*abi.Type // those that need no debug information, as Linux has them
}

// modelOf returns the types of an architecture.
func modelOf(a *arch.Arch) *model {
	size := uint64(a.PtrSize)
	m := &model{
		long: &abi.Type{Kind: abi.Integer, Size: size, Signed: true}, ulong: &abi.Type{Kind: abi.Integer, Size: size},
		pointer: &abi.Type{Kind: abi.Pointer, Size: size}, longDouble: &abi.Type{Kind: a.LongDouble, Size: 16},
	}
	if size == 4 {
		if m.longDouble.Size = 8; a.LongDouble == abi.X87 {
			m.longDouble.Size = 12
		}
	}
	m.named = map[string]*abi.Type{
		"void": voidType, "bool": {Kind: abi.Integer, Size: 1}, "_Bool": {Kind: abi.Integer, Size: 1},
		"float": floatType, "double": doubleType,
		"size_t": m.ulong, "ssize_t": m.long, "off_t": m.long, "pid_t": intType, "uid_t": uintType, "gid_t": uintType, "time_t": m.long,
		"intptr_t": m.long, "uintptr_t": m.ulong, "ptrdiff_t": m.long,
		"int8_t": charType, "int16_t": {Kind: abi.Integer, Size: 2, Signed: true}, "int32_t": intType, "int64_t": longLongType,
		"uint8_t": {Kind: abi.Integer, Size: 1}, "uint16_t": {Kind: abi.Integer, Size: 2}, "uint32_t": uintType, "uint64_t": ulongLongType,
	}
	return m
}

// model returns the process's.
func (e *Evaluator) model() *model {
	if e.sizes == nil {
		e.sizes = modelOf(e.Process.Arch())
	}
	return e.sizes
}

// integerType returns the type of a constant, and its name (C11, 6.4.4.1).
func (m *model) integerType(n *expression.Node) (*abi.Type, string) {
	unsigned, long := strings.Contains(n.Suffix, "u"), strings.Count(n.Suffix, "l")
	switch {
	case long == 0 && !unsigned && n.Int <= math.MaxInt32:
		return intType, "int"
	case long == 0 && unsigned && n.Int <= math.MaxUint32:
		return uintType, "unsigned int"
	case long <= 1 && !unsigned && n.Int <= 1<<(8*m.long.Size-1)-1:
		return m.long, "long"
	case long <= 1 && n.Int <= math.MaxUint64>>(64-8*m.ulong.Size):
		return m.ulong, "unsigned long"
	case !unsigned && n.Int <= math.MaxInt64:
		return longLongType, "long long"
	}
	return ulongLongType, "unsigned long long"
}
