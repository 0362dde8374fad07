package picture

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// WriteFolded writes one line for each different stack, as flamegraph.pl and speedscope read it:
// its frames, the outermost first, with semicolons between them, a space, and the value. Lines are
// in alphabetical order.
func (s *Stacks) WriteFolded(out io.Writer) error {
	tree := s.merged(foldedName, "??") // a thread without frames counts, too
	// turn is a line that ends with a node's frame, or, with rest, all that go on behind it: for the order of lines, its text has a semicolon more.
	type turn struct {
		node   int
		rest   bool
		before int // how much of line is further out
	}
	text := func(t turn) string {
		if t.rest {
			return tree.Nodes[t.node].Frame + ";"
		}
		return tree.Nodes[t.node].Frame
	}
	var todo []turn // the last is next; a tree may be deeper than a program's own stack
	add := func(of, before int) {
		from := len(todo)
		for _, kid := range tree.kids(of) {
			if tree.Nodes[kid].Self > 0 {
				todo = append(todo, turn{kid, false, before})
			}
			if tree.Nodes[kid].first > 0 {
				todo = append(todo, turn{kid, true, before})
			}
		}
		slices.SortFunc(todo[from:], func(a, b turn) int { return strings.Compare(text(b), text(a)) })
	}
	w := bufio.NewWriter(out)
	var line []byte
	for add(-1, 0); len(todo) > 0; {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		line = append(line[:t.before], text(t)...)
		if t.rest {
			add(t.node, len(line))
			continue
		}
		w.Write(line)
		w.WriteByte(' ')
		w.WriteString(strconv.FormatInt(tree.Nodes[t.node].Self, 10))
		w.WriteByte('\n')
	}
	return w.Flush()
}

// foldedName returns a name without the characters that divide frames and lines: a colon stands for a
// semicolon, as in the output of stackcollapse scripts.
func foldedName(name string) string {
	return strings.ReplaceAll(printable.Escape(name), ";", ":")
}
