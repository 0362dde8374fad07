package picture

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
)

// WriteFolded writes one line for each different stack, as flamegraph.pl and speedscope read it:
// its frames, the outermost first, with semicolons between them, a space, and the value. Lines are
// in alphabetical order.
func (s *Stacks) WriteFolded(out io.Writer) error {
	names := make([]string, len(s.Places))
	for i := range s.Places {
		names[i] = foldedName(s.Places[i].Shown())
	}
	counts := map[string]int64{}
	var line strings.Builder
	for i := range s.Samples {
		x := &s.Samples[i]
		line.Reset()
		line.WriteString(foldedName(x.Root))
		for _, f := range slices.Backward(x.Frames) {
			if line.Len() > 0 {
				line.WriteByte(';')
			}
			line.WriteString(names[f])
		}
		if line.Len() == 0 {
			line.WriteString("??") // a thread without frames counts, too
		}
		counts[line.String()] += x.value()
	}
	lines := make([]string, 0, len(counts))
	for l := range counts {
		lines = append(lines, l)
	}
	slices.Sort(lines)
	w := bufio.NewWriter(out)
	for _, l := range lines {
		w.WriteString(l)
		w.WriteByte(' ')
		w.WriteString(strconv.FormatInt(counts[l], 10))
		w.WriteByte('\n')
	}
	return w.Flush()
}

// foldedName returns a name without the characters that divide frames and lines: a colon stands for a
// semicolon, as in the output of stackcollapse scripts, a question mark for a control character.
func foldedName(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ';':
			return ':'
		case c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u2028' || c == '\u2029':
			return '?'
		}
		return c
	}, name)
}
