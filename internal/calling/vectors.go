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

// vectors finds out which vectors the function at an address takes and returns in registers, where
// that matters: it depends on the processor that the function was compiled for. It returns why the
// function cannot be called.
func (c *Caller) vectors(addr uint64, f *abi.Func, args []abi.Value) (why string) {
	a := c.Process.Arch()
	if a.VectorBytes == nil {
		return ""
	}
	ways := vectorCalls(a, f, args)
	if same(ways) {
		return ""
	}
	list, _, err := c.Symbols.Scopes(c.Process.Modules(), addr)
	if err != nil || len(list) == 0 {
		return notTold
	}
	n, ok := a.VectorBytes(list[0].Producer())
	if !ok {
		return notTold
	}
	if a.VectorCode != nil {
		ways = c.borneOut(ways, addr)
		switch told := slices.IndexFunc(ways, func(w vectorCall) bool { return w.bytes == n }); {
		case len(ways) > 0 && same(ways): // the code tells all
			n = ways[0].bytes
		case told < 0 || !same([]vectorCall{ways[0], ways[told]}): // wide vectors must be seen
			return notBorneOut
		}
	}
	f.VectorBytes = n
	return ""
}

// borneOut returns those ways in which a function may be called by its code.
func (c *Caller) borneOut(ways []vectorCall, addr uint64) []vectorCall {
	a := c.Process.Arch()
	at := c.Symbols.Locate(c.Process.Modules(), addr)
	f := &at[len(at)-1]
	if f.Start != addr {
		return nil
	}
	code := make([]byte, min(f.End-f.Start, maxVectorCode))
	if n, _ := c.Process.Memory().ReadMemory(addr, code); n < len(code) || n == 0 {
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

// A vectorCall is how a function is called that takes and returns vectors of so many bytes in
// registers.
type vectorCall struct {
	bytes  uint64
	call   *abi.Call
	result *abi.Return
}

// vectorCalls returns how a function may be called, the narrowest vectors first; none if it cannot
// be called at all.
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
