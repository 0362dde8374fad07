package trad

import "fmt"

// Constant is an [Expression] with the same value for every frame. In a row that holds
// for one frame alone ([Once]), the addresses that the sniffer has found are Constants.
type Constant uint64

// Eval returns the constant.
func (c Constant) Eval(Env, uint64, bool) (uint64, error) { return uint64(c), nil }

// String returns the constant in hexadecimal, as in 0x7ffc1000.
func (c Constant) String() string { return fmt.Sprintf("%#x", uint64(c)) }
