package trad

import "fmt"

// Constant is an [Expression] that gives the same value wherever it is evaluated. A row that holds
// for one frame alone ([Once]) has as Constants the addresses that its sniffer found for the frame.
type Constant uint64

// Eval returns the constant.
func (c Constant) Eval(Env, uint64, bool) (uint64, error) { return uint64(c), nil }

// String returns the constant in hexadecimal, as in 0x7ffc1000.
func (c Constant) String() string { return fmt.Sprintf("%#x", uint64(c)) }
