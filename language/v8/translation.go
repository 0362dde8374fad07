package v8

import (
	"slices"
	"strings"
)

// translations has the operations by which a compiler notes, for a place in its code, the frames
// that are one frame there, and the values in them.
type translations struct {
	operands []uint8 // how many each operation has
	// The numbers of some operations, -1 where a release lacks one.
	interpreted [2]int // frames with a place in bytecode
	continued   [2]int // frames of builtin functions that go on in JavaScript
	construct   [2]int // the next frame is a constructor's
	begin       [2]int
	same        int // operations are as in the translation before
	captured    int // an object that was taken apart: its parts follow
	literal     int
	slot        int // on the stack
}

// newTranslations returns the operations of a release: their names, in order, each with the count
// of its operands.
func newTranslations(list string) *translations {
	t := &translations{}
	var names []string
	for word := range strings.FieldsSeq(list) {
		names = append(names, word[:len(word)-1])
		t.operands = append(t.operands, word[len(word)-1]-'0')
	}
	of := func(list ...string) int {
		return slices.IndexFunc(names, func(name string) bool { return slices.Contains(list, name) })
	}
	t.interpreted = [2]int{of("INTERPRETED_FRAME", "INTERPRETED_FRAME_WITH_RETURN"), of("INTERPRETED_FRAME_WITHOUT_RETURN")}
	t.continued = [2]int{of("JAVA_SCRIPT_BUILTIN_CONTINUATION_FRAME", "JAVASCRIPT_BUILTIN_CONTINUATION_FRAME"),
		of("JAVA_SCRIPT_BUILTIN_CONTINUATION_WITH_CATCH_FRAME", "JAVASCRIPT_BUILTIN_CONTINUATION_WITH_CATCH_FRAME")}
	t.construct = [2]int{of("CONSTRUCT_STUB_FRAME", "CONSTRUCT_CREATE_STUB_FRAME"), of("CONSTRUCT_INVOKE_STUB_FRAME")}
	t.begin = [2]int{of("BEGIN", "BEGIN_WITHOUT_FEEDBACK"), of("BEGIN_WITH_FEEDBACK")}
	t.same, t.captured, t.literal, t.slot = of("MATCH_PREVIOUS_TRANSLATION"), of("CAPTURED_OBJECT"), of("LITERAL"), of("STACK_SLOT", "TAGGED_STACK_SLOT")
	return t
}

// mostOperands is how many operands an operation has at most.
const mostOperands = 8

// step is an operation with its operands.
type step struct {
	op   int
	args [mostOperands]int
}

// reader reads the steps of one translation.
type reader struct {
	*translations
	p      []byte // from the next step on
	frames int    // how many frames of JavaScript there are
	failed bool

	// A translation may repeat steps of an earlier one: of that, the n-th step is as the n-th here.
	like []byte // from its step number known on
	step int    // number of the next step
	done int    // steps of like that were read
	same int    // steps that are still to be taken from there
}

// newReader begins to read the translation at an index.
func newReader(t *translations, p []byte, at int) *reader {
	r := &reader{translations: t}
	if at < 0 || at >= len(p) {
		r.failed = true
		return r
	}
	r.p = p[at:]
	begin := r.read(&r.p)
	if !slices.Contains(t.begin[:], begin.op) || begin.op < 0 {
		r.failed = true
		return r
	}
	r.frames = begin.args[1]
	if t.same < 0 {
		return r
	}
	r.frames = begin.args[2]
	_, rest := unsigned(p[at:])
	if back, _ := unsigned(rest); back > 0 && back <= at {
		r.like = p[at-back:]
		r.read(&r.like) // its beginning
	}
	return r
}

// next reads the next step.
func (r *reader) next() (s step) {
	for {
		switch {
		case r.failed:
			return s
		case r.same > 0:
			for ; r.done <= r.step && !r.failed; r.done++ {
				s = r.read(&r.like)
			}
			r.same--
			r.step++
			return s
		}
		if s = r.read(&r.p); s.op != r.translations.same || s.op < 0 {
			r.step++
			return s
		}
		if r.same = s.args[0]; r.same <= 0 || r.same > mostSteps {
			r.failed = true
		}
	}
}

// mostSteps bounds a translation.
const mostSteps = 1 << 16

// read takes the first step off p. What is greater than any operation stands for steps that are as
// in the other translation.
func (r *reader) read(p *[]byte) (s step) {
	if len(*p) == 0 {
		r.failed = true
		return s
	}
	same := r.translations.same
	if same < 0 {
		s.op, *p = signed(*p)
	} else {
		s.op, *p = int((*p)[0]), (*p)[1:]
		if n := len(r.operands); s.op >= n {
			s.args[0] = s.op - n
			s.op = same
			return s
		}
	}
	if s.op < 0 || s.op >= len(r.operands) {
		r.failed = true
		return s
	}
	for i := range int(r.operands[s.op]) {
		if len(*p) == 0 {
			r.failed = true
			return s
		}
		if s.op == same {
			s.args[i], *p = unsigned(*p)
		} else {
			s.args[i], *p = signed(*p)
		}
	}
	return s
}
