package lastwords

import (
	"fmt"
	"strings"
	"unicode"
)

// ofAssert returns the words of a C library's assert, by the arguments of the call: constants of
// the program. musl keeps no message, glibc's has not been made yet, or is not in a crash report.
func (f *finder) ofAssert() []Words {
	for i := 0; i+1 < len(f.Frames); i++ {
		functions := f.Frames[i].Functions
		if len(functions) == 0 || strings.TrimPrefix(functions[len(functions)-1], "__GI_") != "__assert_fail" {
			continue
		}
		const arguments = 4
		args, ok := f.argumentsOf(&f.Frames[i+1], arguments)
		if !ok {
			return nil
		}
		var texts [arguments]string
		for _, j := range []int{0, 1, 3} {
			if texts[j], ok = f.constantText(args[j]); !ok {
				return nil
			}
		}
		line := uint32(args[2])
		if line == 0 || line > mostLines {
			return nil
		}
		text := fmt.Sprintf("Assertion failed: %s (%s: %s: %d)", texts[0], texts[1], texts[3], line)
		if f.isGlibc(f.Frames[i].PC) {
			text = fmt.Sprintf("%s:%d: %s: Assertion `%s' failed.", texts[1], line, texts[3], texts[0])
		}
		return []Words{{Text: text, From: "the arguments of __assert_fail"}}
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
