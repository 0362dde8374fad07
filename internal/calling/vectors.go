package calling

import (
	"reflect"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
)

// Why a function cannot be called that takes or returns vectors.
const (
	notTold = "it takes or returns vectors in registers if its compiler was told that the processor has such (-mavx)," +
		" and the debug information does not tell"
	notBorneOut = "it takes or returns vectors in registers if it was compiled for a processor that has such, and its code" +
		" does not bear out what the debug information tells of its file: it may have another target of its own"
)

// maxVectorCode bounds the code of a function that is looked at, bytes.
const maxVectorCode = 1 << 20

// vectors finds out which vectors a function takes and returns in registers, where that matters: it depends on the
// processor that the function was compiled for. It returns why the function cannot be called.
func (e *Evaluator) vectors(to *called, of *abi.Func, args []abi.Value) (why string) {
	a := e.Process.Arch()
	if a.VectorBytes == nil {
		return ""
	}
	ways := vectorCalls(a, of, args)
	if same(ways) {
		return ""
	}
	if to.known == nil {
		return notTold
	}
	n, ok := a.VectorBytes(to.known.producer)
	if !ok {
		return notTold
	}
	if a.VectorCode != nil {
		ways = e.borneOut(ways, to)
		switch told := slices.IndexFunc(ways, func(w vectorCall) bool { return w.bytes == n }); {
		case len(ways) > 0 && same(ways): // the code tells all
			n = ways[0].bytes
		case told < 0 || !same([]vectorCall{ways[0], ways[told]}): // wide vectors must be seen
			return notBorneOut
		}
	}
	of.VectorBytes = n
	return ""
}

// borneOut returns those ways in which a function may be called by its code.
func (e *Evaluator) borneOut(ways []vectorCall, to *called) []vectorCall {
	a := e.Process.Arch()
	code := make([]byte, min(to.known.size, maxVectorCode))
	if n, _ := e.Process.Memory().ReadMemory(to.addr, code); n < len(code) || n == 0 {
		return nil
	}
	told, ok := a.VectorCode(code)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(ways, func(w vectorCall) bool {
		memory := len(w.call.Stack) > a.PtrSize || w.result.Memory
		return w.bytes < told.Least || w.bytes > told.Most || memory && !told.Memory
	})
}

// A vectorCall is how a function is called that takes and returns vectors of so many bytes in registers.
type vectorCall struct {
	bytes  uint64
	call   *abi.Call
	result *abi.Return
}

// vectorCalls returns how a function may be called, the narrowest vectors first; none if it cannot be called at all.
func vectorCalls(a *arch.Arch, f *abi.Func, args []abi.Value) (ways []vectorCall) {
	const sp, ret = 1 << 20, 1 << 10
	for _, n := range []uint64{0, 16, 32, 64} {
		of := *f
		of.VectorBytes = n
		call, err := a.Calls.PushDummyCall(&of, args, sp, ret)
		if err != nil {
			return nil // the call itself says why
		}
		result, err := a.Calls.ReturnValue(&of)
		if err != nil {
			return nil
		}
		ways = append(ways, vectorCall{n, call, result})
	}
	return ways
}

// same reports whether all ways are one.
func same(ways []vectorCall) bool {
	return !slices.ContainsFunc(ways, func(w vectorCall) bool {
		return !reflect.DeepEqual(w.call, ways[0].call) || !reflect.DeepEqual(w.result, ways[0].result)
	})
}
