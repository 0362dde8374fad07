package gdbtest

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A FullThread is one thread of what gdb's `thread apply all bt full` prints, or sfwalk's --locals.
type FullThread struct {
	TID    int
	Frames []FullFrame
}

// A FullFrame is a frame with its variables as text.
type FullFrame struct {
	Level    int
	Function string // ?? if it has no name; empty for a frame that is no function's
	Args     string // what is between the parentheses
	Place    string // FILE:LINE, or empty
	Locals   []FullLocal
	// Unknown says that there is no table of symbols for the frame, so that nothing is known of its
	// variables.
	Unknown bool
}

// A FullLocal is one variable.
type FullLocal struct{ Name, Text string }

// ParseFull reads such a text, gdb's or sfwalk's. What stands before the first thread is skipped.
func ParseFull(text string) ([]FullThread, error) {
	var threads []FullThread
	text = noise.ReplaceAllString(text, "")
	for number, line := range strings.Split(text, "\n") {
		if tid, ok := threadHeading(line); ok {
			threads = append(threads, FullThread{TID: tid})
			continue
		}
		if len(threads) == 0 {
			continue
		}
		t := &threads[len(threads)-1]
		if level, rest, ok := frameLevel(line); ok {
			f, err := parseFrame(rest)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w: %q", number+1, err, line)
			}
			f.Level = level
			t.Frames = append(t.Frames, f)
			continue
		}
		if len(t.Frames) == 0 || strings.TrimSpace(line) == "" {
			continue
		}
		t.Frames[len(t.Frames)-1].line(line)
	}
	return threads, nil
}

// noise is what gdb says in the middle of a line.
var noise = regexp.MustCompile(`warning: \((Internal error|Error): pc 0x[0-9a-f]+ in [^)\n]*\)\n?`)

// line takes in one line below the frame's own.
func (f *FullFrame) line(line string) {
	switch said := strings.TrimSpace(line); {
	case said == "No locals.":
		return
	case said == "No symbol table info available.":
		f.Unknown = true
		return
	case len(f.Locals) == 0 && !strings.HasPrefix(line, indent):
		return // what gdb says besides
	}
	if rest, ok := strings.CutPrefix(line, indent); ok && rest[:min(1, len(rest))] != " " && rest[:min(1, len(rest))] != "}" {
		if name, value, ok := strings.Cut(rest, " = "); ok {
			f.Locals = append(f.Locals, FullLocal{name, shadows.ReplaceAllString(value, "")})
			return
		}
	}
	if n := len(f.Locals); n > 0 && !strings.HasPrefix(line, "[Inferior ") && !strings.HasPrefix(line, "Saved corefile") && !strings.HasPrefix(line, "stop: ") {
		f.Locals[n-1].Text += "\n" + line
	}
}

// shadows is what gdb 17 and later print behind variables of one name.
var shadows = regexp.MustCompile(`\t<[^<>\t]+:\d+(, shadowed)?>$`)

// indent is what stands before a local's name.
const indent = "        "

// threadHeading reads `Thread 1 (Thread 0x7f534e6ec440 (LWP 8290) "name"):`, `Thread 1 (LWP 8290):`
// or `Thread 8290 "name"`.
func threadHeading(line string) (tid int, ok bool) {
	rest, ok := strings.CutPrefix(line, "Thread ")
	if !ok {
		return 0, false
	}
	for _, before := range []string{"(LWP ", "(process "} {
		if _, after, ok := strings.Cut(rest, before); ok && strings.HasSuffix(strings.TrimSpace(rest), "):") {
			rest = after
			break
		}
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	tid, err := strconv.Atoi(rest[:digits])
	return tid, err == nil && (digits == len(rest) || strings.ContainsRune(" )", rune(rest[digits])))
}

// frameLevel reads "#12 ".
func frameLevel(line string) (level int, rest string, ok bool) {
	if rest, ok = strings.CutPrefix(line, "#"); !ok {
		return 0, "", false
	}
	number, rest, ok := strings.Cut(rest, " ")
	level, err := strconv.Atoi(number)
	return level, strings.TrimLeft(rest, " "), ok && err == nil
}

// marks are what sfwalk writes at the end of a frame's line.
var marks = []string{" [guess]", " [tail call]", " [stack switch]", " [moved on]"}

// parseFrame reads what follows the level: `0x000055555555 in leaf (n=5) at chain.c:8`.
func parseFrame(text string) (f FullFrame, err error) {
	for i := 0; i < len(marks); i++ {
		if shorter, ok := strings.CutSuffix(text, marks[i]); ok {
			text, i = shorter, -1
		}
	}
	if strings.HasPrefix(text, "0x") {
		if _, after, ok := strings.Cut(text, " in "); ok {
			text = after
		}
	}
	if strings.HasPrefix(text, "<") && strings.HasSuffix(text, ">") { // <signal handler called>
		return f, nil
	}
	const mostAttempts = 100 // of parentheses in a function's name
	for from, attempts := 0, 0; ; attempts++ {
		open := strings.Index(text[from:], " (")
		if open < 0 || attempts == mostAttempts {
			return f, errors.New("a frame without arguments")
		}
		open += from
		from = open + 2
		end := skipValues(text, from)
		if end == len(text) {
			continue
		}
		rest := text[end+1:]
		place, at := strings.CutPrefix(rest, " at ")
		if rest != "" && !at && !strings.HasPrefix(rest, " from ") {
			continue
		}
		f.Function, f.Args = text[:open], text[from:end]
		if at {
			f.Place = place
		}
		if rest == "" && strings.HasPrefix(f.Args, "/") { // sfwalk's `main+0x1f (/usr/bin/x)`, `main+0x1f (argc=1) (/usr/bin/x)`
			var known bool
			f.Function, f.Args, known = strings.Cut(strings.TrimSuffix(f.Function, ")"), " (")
			f.Function, _, _ = strings.Cut(f.Function, "+0x")
			f.Unknown = !known
		}
		return f, nil
	}
}

// skipValues returns the index of the parenthesis that closes what begins at from, or the length of
// the text. Strings and characters are skipped.
func skipValues(text string, from int) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case '"':
			i = skipQuoted(text, i)
		case '\'':
			if end := skipQuoted(text, i); end-i <= 12 || strings.HasPrefix(text[min(end+1, len(text)):], " <repeats") {
				i = end
			}
		}
	}
	return len(text)
}

// skipQuoted returns the index of the quotation mark that closes the one at i.
func skipQuoted(text string, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// Arguments splits a frame's arguments into names and values.
func (f *FullFrame) Arguments() (list []FullLocal) {
	text := f.Args
	for text != "" {
		end := nextComma(text)
		name, value, _ := strings.Cut(text[:end], "=")
		list = append(list, FullLocal{name, value})
		text = strings.TrimPrefix(strings.TrimPrefix(text[end:], ","), " ")
	}
	return list
}

// nextComma returns the index of the comma that ends the first argument: behind it stands the name
// of the next.
func nextComma(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
		case '"':
			i = skipQuoted(text, i)
		case '\'':
			if end := skipQuoted(text, i); end-i <= 12 || strings.HasPrefix(text[min(end+1, len(text)):], " <repeats") {
				i = end
			}
		case ',':
			if depth == 0 && argument(text[i+1:]) {
				return i
			}
		}
	}
	return len(text)
}

// argument reports whether text begins with ` name=`, and not with a further part of a value.
func argument(text string) bool {
	name, value, ok := strings.Cut(text, "=")
	return ok && len(name) > 1 && name[0] == ' ' && !strings.ContainsAny(name[1:], " ,\"'<>{}()") && value != ""
}
