package arch

// VectorCode is what a function's code tells of the vectors that it takes and returns in registers.
type VectorCode struct {
	// Least and Most bound abi.Func.VectorBytes.
	Least, Most uint64
	// Memory says that the code reads or writes memory, other than constants. Code that does not
	// takes no argument from there, and returns nothing there.
	Memory bool
}
