package v8

import (
	"fmt"
	"slices"
	"sync"
)

// release is what V8 does not tell of its objects. It is known by V8's release.
type release struct {
	scriptURLAt      uint64 // of Script
	positions        uint64 // of BytecodeArray: its table of source positions
	positionForm     int    // the form of that
	codeStart        uint64 // of Code: the address of its first instruction
	codeHeader       uint64 // bytes before the first instruction, in the object that has the instructions
	codeOf           uint64 // in that object, the Code; 0 if it is the Code itself
	codeBack         uint64 // of Code, where it has no address: the object that has its instructions
	codeFlags        uint64 // of Code
	codeSize         uint64 // of Code: the size of its instructions
	codeDeopt        uint64 // of Code: the data of a compiler, or of baseline code, the bytecode
	codePositions    uint64 // of baseline code: the size of the code of each bytecode
	baseline         int    // the kind of baseline code; the two compilers have the next ones
	kindRegExp       int    // of code of regular expressions
	safepointHead    uint64 // bytes before the count of safepoints
	packedSafepoints bool   // of TurboFan's code
	moduleScope      uint32 // the kind of a module's ScopeInfo
	plainLengths     bool   // of arrays but the BytecodeArray: they are no small integers of V8's
	placedFields     bool   // details of a property have its place in the object, and not its number
	deoptData        deoptIndexes
	wasmFields       wasmLayout
	exitThis         int // of the frame of a builtin function in C++: "this"
	*translations
	bytecodeSizes string // of all bytecodes, with single, double and fourfold operands
}

// deoptIndexes are indexes in a compiler's data.
type deoptIndexes struct {
	translation, literals, shared, first int
	wrapped                              bool // shared is in an object of its own
}

// table is what generate has made of a release.
type table struct {
	major, minor  int
	operations    string // with their counts of operands
	bytecodeSizes string // a character each: 1 to 9, a for 10
}

var allTables = slices.Concat(tables, packedTables)

// releaseOf returns what is known of a release.
func releaseOf(major, minor int) (*release, error) {
	for i := range allTables {
		if t := &allTables[i]; t.major == major && t.minor == minor {
			return t.made(), nil
		}
	}
	return nil, fmt.Errorf("the layout of V8 %d.%d is not known", major, minor)
}

// releases has what was made of tables. Each is made when it is asked for.
var releases struct {
	sync.Mutex
	made map[*table]*release
}

// made returns the release of a table.
func (t *table) made() *release {
	releases.Lock()
	defer releases.Unlock()
	if releases.made == nil {
		releases.made = map[*table]*release{}
	}
	if releases.made[t] == nil {
		releases.made[t] = t.release()
	}
	return releases.made[t]
}

// from reports whether it is the table of a release, or of a later one.
func (t *table) from(major, minor int) bool { return from(t.major, t.minor, major, minor) }

// from reports whether a release is another, or a later one.
func from(major, minor, firstMajor, firstMinor int) bool {
	return major > firstMajor || major == firstMajor && minor >= firstMinor
}

// release returns the table of a release. Its offsets are as V8's headers have them (code.h,
// code.tq, script.tq, safepoint-table.h), and all builds for 64-bit processors without compressed
// pointers. The tests compare them with running processes.
func (t *table) release() *release {
	r := &release{translations: newTranslations(t.operations)}
	sizes := []byte(t.bytecodeSizes)
	for i, c := range sizes {
		if sizes[i] = c - '0'; c >= 'a' {
			sizes[i] = c - 'a' + 10
		}
	}
	r.bytecodeSizes = string(sizes)
	r.scriptURLAt, r.positions = 112, 32
	r.deoptData = deoptIndexes{translation: 0, literals: 2, shared: 6, first: 11}
	r.codeStart, r.codeHeader, r.codeOf = 40, 16, 8
	r.codeDeopt, r.codePositions, r.codeFlags, r.codeSize = 16, 24, 48, 56
	r.exitThis, r.kindRegExp = 48, 3
	if r.moduleScope = 5; t.from(13, 7) {
		r.positionForm = positionMarked
	}
	if t.from(14, 2) {
		r.kindRegExp = 4
	}
	if t.from(14, 5) {
		r.exitThis = 40
	}
	switch {
	case !t.from(11, 0): // the instructions are in the Code
		r.scriptURLAt = 104
		r.codeStart, r.codeHeader, r.codeOf, r.codeSize = 0, 128, 0, 40
	case !t.from(11, 8):
	case !t.from(12, 0):
		r.codeHeader, r.codeDeopt, r.codePositions, r.codeStart, r.codeFlags, r.codeSize = 32, 8, 16, 32, 40, 44
	case !t.from(13, 4):
		r.positions = 24
		r.codeHeader, r.codeDeopt, r.codePositions, r.codeSize = 32, 8, 16, 52
		r.deoptData.wrapped = t.from(12, 9)
	default:
		r.positions = 24
		r.codeHeader, r.codeDeopt, r.codePositions, r.codeFlags, r.codeSize = 32, 8, 16, 52, 56
		r.safepointHead = 4
		r.deoptData = deoptIndexes{translation: 0, literals: 3, shared: 7, first: 12, wrapped: true}
	}
	switch {
	case !t.from(11, 0):
		r.wasmFields = wasmLayout{size: 32, index: 48}
	case !t.from(12, 0):
		r.wasmFields = wasmLayout{size: 24, protected: 40, index: 44, inlined: 12}
	case !t.from(12, 9):
		r.wasmFields = wasmLayout{size: 24, protected: 40, index: 44, inlined: 13}
	case !t.from(13, 0):
		r.wasmFields = wasmLayout{size: 24, protected: 44, index: 48, inlined: 13}
	default:
		r.wasmFields = wasmLayout{size: 32, protected: 52, index: 56, inlined: 13}
	}
	r.packedSafepoints, r.placedFields = t.from(14, 7), t.from(14, 7)
	if t.from(14, 8) {
		r.scriptURLAt = 120
	}
	if t.from(14, 9) {
		r.moduleScope, r.positionForm, r.plainLengths = 3, positionFlags, true
	}
	return r
}
