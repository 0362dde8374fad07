package picture

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// WriteFolded writes one line for each different stack, as flamegraph.pl and speedscope read it:
// its frames, the outermost first, with semicolons between them, a space, and the value. Lines are
// in alphabetical order. The lines of the rarest stacks become one if all are more than MaxText.
func (s *Stacks) WriteFolded(out io.Writer) error {
	tree := s.merged(foldedName, false, "??") // a thread without frames counts, too
	has, rest := s.foldedLines(tree)
	// turn is a line that ends with a node's frame, or, with rest, all that go on behind it: for
	// the order of lines, its text has a semicolon more.
	type turn struct {
		node   int
		rest   bool
		before int // how much of line is further out
	}
	// Names may be long: texts of two turns are compared in room, and a line is written frame by
	// frame.
	var room [2][]byte
	text := func(of int, t turn) []byte {
		room[of] = append(room[of][:0], tree.Nodes[t.node].Frame.name...)
		if t.rest {
			room[of] = append(room[of], ';')
		}
		return room[of]
	}
	var todo []turn // the last is next; a tree may be deeper than a program's own stack
	add := func(of, before int) {
		from := len(todo)
		for _, kid := range tree.kids(of) {
			if tree.Nodes[kid].Self > 0 {
				todo = append(todo, turn{kid, false, before})
			}
			if tree.Nodes[kid].first > 0 && has[kid] {
				todo = append(todo, turn{kid, true, before})
			}
		}
		slices.SortFunc(todo[from:], func(a, b turn) int { return bytes.Compare(text(0, b), text(1, a)) })
	}
	w := bufio.NewWriter(out)
	var line []string
	for add(-1, 0); len(todo) > 0; {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		line = append(line[:t.before], tree.Nodes[t.node].Frame.name)
		if t.rest {
			add(t.node, len(line))
			continue
		}
		for i, frame := range line {
			if i > 0 {
				w.WriteByte(';')
			}
			w.WriteString(frame)
		}
		w.WriteByte(' ')
		w.WriteString(strconv.FormatInt(tree.Nodes[t.node].Self, 10))
		w.WriteByte('\n')
	}
	if rest > 0 {
		fmt.Fprintf(w, "%s %d\n", leftOutName, rest)
	}
	return w.Flush()
}

// leftOutName stands for the stacks that are left out.
const leftOutName = "[rarer stacks are left out: they are too much text]"

// foldedLines reports which nodes have lines below them. It takes the lines of the rarest stacks
// off the tree if all are too much text; rest is their value.
func (s *Stacks) foldedLines(tree *Tree[label]) (has []bool, rest int64) {
	text := make([]int64, len(tree.Nodes)) // of the line that ends with a node
	var lines []int
	for i := range tree.Nodes { // parents first
		n := &tree.Nodes[i]
		if text[i] = int64(len(n.Frame.name)) + 1; n.Parent >= 0 {
			text[i] += text[n.Parent]
		}
		if n.Self > 0 {
			lines = append(lines, i)
		}
	}
	slices.SortStableFunc(lines, func(a, b int) int { return cmp.Compare(tree.Nodes[b].Self, tree.Nodes[a].Self) })
	left, out := s.MaxText, 0
	for _, i := range lines {
		if left -= text[i]; s.MaxText > 0 && left < 0 {
			rest += tree.Nodes[i].Self
			tree.Nodes[i].Self = 0
			left += text[i]
			out++
		}
	}
	s.LeftOut = ""
	if out > 0 {
		s.LeftOut = fmt.Sprintf("%d of %d different stacks, the rarest, are left out and counted as one: all are more than %d bytes of text", out, len(lines), s.MaxText)
	}
	has = make([]bool, len(tree.Nodes))
	for i := range slices.Backward(tree.Nodes) {
		n := &tree.Nodes[i]
		if n.Parent >= 0 && (has[i] || n.Self > 0) {
			has[n.Parent] = true
		}
	}
	return has, rest
}

// foldedName returns a name without the characters that divide frames and lines: a colon stands for
// a semicolon, as in the output of stackcollapse scripts.
func foldedName(name string) string {
	return strings.ReplaceAll(printable.Escape(name), ";", ":")
}
