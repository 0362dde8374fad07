package lastwords

import (
	"path"
	"strings"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// variable is a variable of a library that leads to its last words.
type variable struct {
	name    string
	library string                                            // how the names of its files begin: "libc."
	from    string                                            // see Words.From
	read    func(m *memory, at uint64) (text string, ok bool) // reads the words; at is the variable's address
}

var known = []variable{
	{"__abort_msg", "libc.", "glibc's __abort_msg", (*memory).abortMessage},
	{"__abort_msg", "libc-", "glibc's __abort_msg", (*memory).abortMessage}, // glibc 2.33 and before: libc-2.31.so
	{"__glib_assert_msg", "libglib-", "GLib's __glib_assert_msg", (*memory).pointedText},
}

// variables returns the words to which the variables of the process's libraries lead. A program
// that is linked statically has the variables itself.
func (f *finder) variables() (list []Words) {
	static := true
	for i := range known {
		v := &known[i]
		for _, m := range f.Target.Modules().All() {
			if !strings.HasPrefix(path.Base(m.Path), v.library) {
				continue
			}
			static = static && !strings.HasPrefix(v.library, "libc")
			if im, bias, err := m.PeekImage(); err == nil {
				list = f.variable(list, v, im, bias)
			}
		}
	}
	if !static {
		return list
	}
	for _, m := range f.Target.Modules().All() {
		im, bias, err := m.PeekImage()
		if err != nil || m.Registered() || im.Entry == 0 {
			continue
		}
		for i := range known {
			if strings.HasPrefix(known[i].library, "libc.") || !strings.HasPrefix(known[i].library, "libc") {
				list = f.variable(list, &known[i], im, bias)
			}
		}
	}
	return list
}

// variable adds the words to which one variable leads, if it is in a file.
func (f *finder) variable(list []Words, v *variable, im *elfimage.Image, bias uint64) []Words {
	const versions = 2
	for _, s := range im.Lookup(v.name, versions) {
		if text, ok := v.read(f.memory, s.Addr+bias); ok {
			return append(list, Words{Text: text, From: v.from})
		}
	}
	return list
}

// pointedText reads the text that a variable points to.
func (m *memory) pointedText(at uint64) (string, bool) {
	p, ok := m.word(at)
	if !ok {
		return "", false
	}
	text, ok := m.text(p)
	return strings.TrimRight(text, "\n"), ok
}

// Bounds of a message of glibc: it has pages of its own, of 4 to 64 KiB each.
const (
	leastPage   = 4 << 10
	mostMessage = 1 << 20
)

// abortMessage reads the message of glibc's abort: __abort_msg points to a struct abort_msg_s
// (include/stdlib.h), the size of the mapping that has it, an unsigned int, and the text.
func (m *memory) abortMessage(at uint64) (string, bool) {
	p, ok := m.word(at)
	if !ok || p == 0 || p%leastPage != 0 {
		return "", false
	}
	size, ok := m.half(p)
	if !ok || size == 0 || size%leastPage != 0 || size > mostMessage {
		return "", false
	}
	text, ok := m.text(p + 4)
	text = strings.TrimRight(text, "\n")
	return text, ok && text != "" && len(text) < int(size)
}
