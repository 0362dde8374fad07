package exidx

// A Model says how a table is made (EHABI32, section 6.3 and 10.2).
type Model uint8

const (
	Su16    Model = iota // __aeabi_unwind_cpp_pr0: up to three bytes of instructions; descriptors of 16 bits
	Lu16                 // __aeabi_unwind_cpp_pr1: longer; descriptors of 16 bits
	Lu32                 // __aeabi_unwind_cpp_pr2: longer; descriptors of 32 bits
	Generic              // a language's own personality routine: GNU's layout
)

// Unwind are the unwinding instructions of an entry.
type Unwind struct {
	Model       Model
	Personality uint32 // the address of a generic table's routine; 0 for other models
	// Code are the instructions. What is behind their end is 0xb0, "finish".
	Code []byte
}

const (
	wordSize = 4
	maxCode  = 3 + 255*wordSize // bytes
)

// Unwind returns the instructions of an entry. The error is [ErrCantUnwind], or wraps
// [ErrMalformed] or [ErrUnsupported].
func (s *Section) Unwind(e Entry) (Unwind, error) {
	switch {
	case e.CantUnwind:
		return Unwind{}, ErrCantUnwind
	case e.Inline:
		if e.word>>24 != 0x80 { // section 6.2: the index of the personality routine is 0
			return Unwind{}, malformed("index", e.at+4, "an inline entry of another model than Su16")
		}
		return Unwind{Model: Su16, Code: bytesOf(e.word, 3, nil)}, nil
	case e.Table&3 != 0:
		return Unwind{}, malformed("index", e.at+4, "the table is not aligned")
	}
	first, err := s.word(e.Table)
	if err != nil {
		return Unwind{}, err
	}
	if first>>31 == 0 {
		return s.generic(e.Table, first)
	}
	if first>>28 != 8 {
		return Unwind{}, malformed("table", e.Table, "the first word's upper bits are not 1000")
	}
	switch index := Model(first >> 24 & 15); index {
	case Su16:
		return Unwind{Model: Su16, Code: bytesOf(first, 3, nil)}, nil
	case Lu16, Lu32:
		code, err := s.more(e.Table+wordSize, first>>16&0xff, bytesOf(first, 2, nil))
		return Unwind{Model: index, Code: code}, err
	}
	return Unwind{}, &Error{"table", e.Table, "a personality routine above 2: it is reserved", ErrUnsupported}
}

// generic returns the instructions of a table with a routine of its own. The layout behind the
// routine's address is the routine's; all that are known (of C, C++, Objective-C, Java, D, Rust,
// Ada, Go) have GNU's: how many words follow in the upper byte of the next, then instructions.
func (s *Section) generic(table, first uint32) (Unwind, error) {
	u := Unwind{Model: Generic, Personality: prel31(first, table)}
	word, err := s.word(table + wordSize)
	if err != nil {
		return u, err
	}
	u.Code, err = s.more(table+2*wordSize, word>>24, bytesOf(word, 3, nil))
	return u, err
}

// more appends n words of instructions to code.
func (s *Section) more(addr, n uint32, code []byte) ([]byte, error) {
	for i := range n {
		word, err := s.word(addr + i*wordSize)
		if err != nil {
			return nil, err
		}
		code = bytesOf(word, 4, code)
	}
	return code, nil
}

// bytesOf appends the lower n bytes of a word, the highest first (EHABI32, section 10.2).
func bytesOf(word uint32, n int, to []byte) []byte {
	for i := n - 1; i >= 0; i-- {
		to = append(to, byte(word>>(8*i)))
	}
	return to
}

func (s *Section) word(addr uint32) (uint32, error) {
	var p [wordSize]byte
	if s.read == nil {
		return 0, malformed("table", addr, "its section is not at hand")
	}
	if n, _ := s.read(uint64(addr), p[:]); n < len(p) {
		return 0, malformed("table", addr, "it cannot be read")
	}
	return s.order.Uint32(p[:]), nil
}
