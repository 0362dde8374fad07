package prologue

import (
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// maxNamesakes is how many functions of one name are tried: a module may have several
// local ones.
const maxNamesakes = 8

// coldPartOf returns the function's name if name is the name of a function's cold part: foo for
// foo.cold or foo.cold.3.
func coldPartOf(name string) (of string, ok bool) {
	if of, ok = strings.CutSuffix(name, ".cold"); ok {
		return of, of != ""
	}
	i := strings.LastIndex(name, ".cold.")
	if i <= 0 || strings.Trim(name[i+len(".cold."):], "0123456789") != "" {
		return "", false
	}
	return name[:i], true
}

// cold reads a function's cold part: code that the compiler has moved out of the function. Control
// comes there by jumps, when the frame is set up already. So cold follows the flow of control from
// the function's entry.
func cold(q *frame.Query, im *elf.Image, bias uint64, part elf.Symbol, of string) (row trad.Row, answer frame.Answer) {
	answer = coldPart
	if q.Arch.ReadSplit == nil {
		return row, answer
	}
	at := part.Addr + bias
	if q.AddressInBlock-at > maxFunction {
		return row, tooFar
	}
	apart := read(q, at, max(part.Size, q.AddressInBlock-at+maxInstruction))
	if uint64(len(apart)) <= q.AddressInBlock-at {
		return row, unreadable
	}
	for _, f := range im.Lookup(of, maxNamesakes) {
		hot := read(q, f.Addr+bias, f.Size)
		if len(hot) == 0 || f.Addr < part.Addr+uint64(len(apart)) && part.Addr < f.Addr+uint64(len(hot)) {
			continue // no function
		}
		found, steps, why := q.Arch.ReadSplit(arch.NewSplitFunction(hot, f.Addr+bias, apart, at), q.AddressInBlock)
		more := q.CountSearched(steps + (len(hot)+len(apart))/readOver)
		switch {
		case why == "" && found.Flags&trad.Guess == 0:
			return found, frame.Claimed
		case answer != frame.Claimed:
			row, answer = found, frame.Answer(why)
		}
		if !more {
			break
		}
	}
	return row, answer
}

// read returns up to n bytes of code at addr, as many as can be read.
func read(q *frame.Query, addr, n uint64) []byte {
	code := make([]byte, min(n, maxFunction+maxInstruction))
	got, _ := q.Memory.ReadMemory(addr, code)
	return code[:got]
}
