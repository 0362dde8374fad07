package frame

// MaxArguments is how many arguments of a program are read.
const MaxArguments = 1 << 12

// Arguments reads the list of a program's arguments as the kernel, or the dynamic linker, leaves it
// for the code at which a program begins: their number at addr, then as many addresses of strings,
// and a zero. The strings lie outward of the list. more gets each address, and returns false if the
// list cannot be the program's. n is the number of arguments. ok is false if no such list is at
// addr, or if it has more than [MaxArguments].
func (q *Query) Arguments(addr uint64, more func(str uint64) bool) (n uint64, ok bool) {
	n, ok = q.Word(addr)
	if !ok || n > MaxArguments {
		return 0, false
	}
	word := uint64(q.Arch.PtrSize)
	for i := range n {
		str, ok := q.Word(addr + (1+i)*word)
		if !ok || str <= addr || !more(str) {
			return n, false
		}
	}
	end, ok := q.Word(addr + (1+n)*word)
	return n, ok && end == 0
}
