package lastwords

import (
	"fmt"
	"strings"
	"unicode"
)

// assertion is a function that an assertion calls as it fails: which of its four arguments is what.
type assertion struct{ expression, file, line, function int }

// assertions are these functions, by their names without arguments: the C library's, and
// libstdc++'s of -D_GLIBCXX_ASSERTIONS.
var assertions = map[string]assertion{
	"__assert_fail":              {expression: 0, file: 1, line: 2, function: 3},
	"std::__glibcxx_assert_fail": {file: 0, line: 1, function: 2, expression: 3},
}

// ofAssert returns the words of an assertion, by the arguments of the call: constants of the
// program. musl and libstdc++ keep no message, glibc's has not been made yet, or is not in a crash
// report.
func (f *finder) ofAssert() []Words {
	for i := 0; i+1 < len(f.Frames); i++ {
		functions := f.Frames[i].Functions
		if len(functions) == 0 {
			continue
		}
		name := strings.TrimPrefix(plainName(functions[len(functions)-1]), "__GI_")
		at, ok := assertions[name]
		if !ok {
			continue
		}
		args, ok := f.argumentsOf(&f.Frames[i+1], 4)
		if !ok {
			return nil
		}
		expression, first := f.constantText(args[at.expression])
		file, second := f.constantText(args[at.file])
		function, third := f.constantText(args[at.function])
		line := uint32(args[at.line])
		if !first || !second || !third || line == 0 || line > mostLines {
			return nil
		}
		text := fmt.Sprintf("Assertion failed: %s (%s: %s: %d)", expression, file, function, line)
		switch {
		case name != "__assert_fail":
			text = fmt.Sprintf("%s:%d: %s: Assertion '%s' failed.", file, line, function, expression)
		case f.isGlibc(f.Frames[i].PC):
			text = fmt.Sprintf("%s:%d: %s: Assertion `%s' failed.", file, line, function, expression)
		}
		return []Words{{Text: text, From: "the arguments of " + name}}
	}
	return nil
}

// constantText reads a text among a module's constants, of one line.
func (f *finder) constantText(at uint64) (string, bool) {
	if !f.constant(at) {
		return "", false
	}
	text, ok := f.text(at)
	return text, ok && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar })
}

// isGlibc reports whether code is glibc's: its file has the variable of glibc's messages.
func (f *finder) isGlibc(pc uint64) bool {
	m := f.Target.Modules().Find(pc)
	if m == nil {
		return false
	}
	im, _, err := m.PeekImage()
	return err == nil && len(im.Lookup("__abort_msg", 1)) > 0
}
