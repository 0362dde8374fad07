package language

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what a decorator says of one stack.
const (
	mostLocks    = 1 << 10 // for which a thread waits, and that it holds
	mostText     = 1 << 12 // bytes of a name
	mostLockText = 1 << 9  // bytes of a lock's name, and of its kind
	mostValue    = 1 << 16 // bytes of a value
)

// bound drops locks that are too many, and cuts texts that are too long. The decorator may go on to
// use what it has returned: bound copies what it changes.
func (d *Decoration) bound() {
	t := &d.Thread
	t.Waits, t.Holds = boundLocks(t.Waits), boundLocks(t.Holds)
	t.Name, t.State, t.Exception = cut(t.Name, mostText), cut(t.State, mostText), cut(t.Exception, mostValue)
	d.Early = cut(d.Early, mostText)
	for level, name := range d.Names {
		if len(name) > mostText {
			d.Names[level] = cut(name, mostText)
		}
	}
}

func boundLocks(list []Lock) []Lock {
	list = list[:min(len(list), mostLocks)]
	for i := range list {
		if l := &list[i]; len(l.Kind) > mostLockText || len(l.Name) > mostLockText {
			list = slices.Clone(list)
			for i := range list {
				list[i].Kind, list[i].Name = cut(list[i].Kind, mostLockText), cut(list[i].Name, mostLockText)
			}
			break
		}
	}
	return list
}

// bound cuts the texts of a frame that are too long.
func (f *Frame) bound() {
	f.Function, f.File, f.Kind = cut(f.Function, mostText), cut(f.File, mostText), cut(f.Kind, mostText)
	f.Line, f.Column = max(f.Line, 0), max(f.Column, 0)
	f.Args, f.Locals = boundVariables(f.Args), boundVariables(f.Locals)
}

func boundVariables(list []Variable) []Variable {
	long := func(v Variable) bool { return max(len(v.Name), len(v.Type)) > mostText || len(v.Value) > mostValue }
	if !slices.ContainsFunc(list, long) {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		v := &list[i]
		v.Name, v.Type, v.Value = cut(v.Name, mostText), cut(v.Type, mostText), cut(v.Value, mostValue)
	}
	return list
}

// cut cuts a text that is longer than most bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const dots = "…"
	text = text[:most-len(dots)]
	for i := 0; i < utf8.UTFMax && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]) && len(text) > 0; i++ {
		text = text[:len(text)-1]
	}
	return strings.Clone(text) + dots // the whole text may be large
}
