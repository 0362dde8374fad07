package calling

import (
	"reflect"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
)

// vectors finds out which vectors a function takes and returns in registers, where that matters: it depends on the
// processor that the compiler has compiled for. It returns why the function cannot be called.
func (f *function) vectors(a *arch.Arch) (why string) {
	if a.VectorBytes == nil || !dependsOnVectors(a, f.abi) {
		return ""
	}
	n, ok := a.VectorBytes(f.producer)
	if !ok {
		return "it takes or returns vectors in registers if its compiler was told that the processor has such (-mavx), and the debug information does not tell"
	}
	f.abi.VectorBytes = n
	return ""
}

// dependsOnVectors reports whether a call of a function is another one where vectors go into registers.
func dependsOnVectors(a *arch.Arch, f *abi.Func) bool {
	const sp, ret = 1 << 20, 1 << 10
	var args []abi.Value
	for _, p := range f.Params {
		args = append(args, abi.Value{Type: p, Bytes: make([]byte, p.Size)})
	}
	var first *abi.Call
	var result *abi.Return
	for _, n := range []uint64{0, 16, 32, 64} {
		of := *f
		of.VectorBytes = n
		call, err := a.Calls.PushDummyCall(&of, args, sp, ret)
		if err != nil {
			return false // the call itself says why
		}
		returned, err := a.Calls.ReturnValue(&of)
		if err != nil {
			return false
		}
		if first != nil && (!reflect.DeepEqual(call, first) || !reflect.DeepEqual(returned, result)) {
			return true
		}
		first, result = call, returned
	}
	return false
}
