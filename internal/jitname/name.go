// Package jitname reads the names that compilers at run time give their code in perf maps and
// jitdumps.
package jitname

import (
	"strconv"
	"strings"
	"unicode"
)

// Name is a name taken apart.
type Name struct {
	Function string
	File     string // "" if the name does not tell
	Line     int    // in which the function begins, from 1; 0 if the name does not tell
}

// Split takes a function's name apart, as a JIT writes it, into function, file and line. It leaves
// unknown forms as they are.
//
// V8 writes KIND:TIERNAME FILE:LINE:COLUMN, or without the column, of JavaScript:
// "JS:~inner /srv/x.js:3:15". The kind and the tier stay with the name: ~ is interpreted,
// ^ baseline, + Maglev's, * optimised; +' and *' are not bound to a context, as Node.js 24
// tells. Python writes py::NAME:FILE.
func Split(name string) (s Name) {
	if rest, ok := strings.CutPrefix(name, "py::"); ok {
		function, file, _ := strings.Cut(rest, ":")
		return Name{Function: "py::" + function, File: file}
	}
	kind, rest, ok := strings.Cut(name, ":")
	if !ok || !JavaScript[kind] {
		return Name{Function: name}
	}
	tier := rest[:len(rest)-len(strings.TrimLeft(rest, "~^+*'"))]
	rest = rest[len(tier):]
	rest, last, ok := cutNumber(rest)
	if !ok {
		return Name{Function: name}
	}
	if file, line, ok := cutNumber(rest); ok {
		rest, last = file, line // last was the column
	}
	function, file := cutFile(rest)
	if function == "" {
		function = "<anonymous>"
	}
	return Name{Function: kind + ":" + tier + function, File: file, Line: last}
}

// JavaScript are the kinds of code that have a place in a source file.
var JavaScript = map[string]bool{
	"JS": true, "Eval": true, "Script": true, "Function": true, "LazyCompile": true,
}

// cutNumber cuts ":NUMBER" off the end.
func cutNumber(s string) (before string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0, false
	}
	line, err := strconv.ParseUint(s[i+1:], 10, 31)
	return s[:i], int(line), err == nil
}

// cutFile cuts a function's name from the file's. Both may have blanks in them ("get size"): a
// file's name with blanks begins like an absolute path or a URL.
func cutFile(s string) (function, file string) {
	cut := -1
	for _, begin := range []string{" /", " node:", " file:", " http:", " https:", " evalmachine."} {
		if i := strings.Index(s, begin); i >= 0 && (cut < 0 || i < cut) {
			cut = i
		}
	}
	if cut < 0 {
		cut = strings.LastIndexByte(s, ' ')
	}
	if cut < 0 {
		return s, ""
	}
	return s[:cut], s[cut+1:]
}

// Readable makes printable text from a process's text.
func Readable(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, name))
}

// IsV8 reports whether V8 gives a name to code with V8's own rules. (Code of regular expressions
// keeps to the ABI.)
func IsV8(name string) bool {
	kind, _, ok := strings.Cut(name, ":")
	return ok && (JavaScript[kind] || kind == "Builtin" || kind == "BytecodeHandler" || kind == "Stub")
}
