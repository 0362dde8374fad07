package picture

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// The picture's measures, in pixels.
const (
	graphWidth  = 1200
	rowHeight   = 16
	graphMargin = 40
	letterWidth = 7
)

// leastWidth is the width below which a frame is left out, pixels, as in flamegraph.pl.
const leastWidth = 0.1

// script searches, and zooms into a frame that is clicked on.
//
//go:embed flamegraph.js
var script string

// WriteFlameGraph writes a flame graph: an SVG file that needs no other one. In a browser, a click
// on a frame zooms, and Ctrl-F searches by a regular expression. Frames that are narrower than a
// tenth of a pixel are left out, and narrow ones that are more than MaxText.
func (s *Stacks) WriteFlameGraph(out io.Writer) error {
	tree, unit := s.merged(printable.Escape, ""), "samples"
	if len(s.Types) > 0 {
		unit = s.Types[0].Name
		if u := s.Types[0].Unit; u != "count" && u != "" {
			unit += " (" + u + ")"
		}
	}
	total := int64(0)
	for i := range s.Samples {
		total += max(s.Samples[i].value(), 0)
	}
	scale := 0.0
	if total > 0 {
		scale = graphWidth / float64(total)
	}
	drawn := s.drawn(tree, scale)
	left := make([]float64, len(tree.Nodes)) // by node, pixels
	depth := 0
	place := func(kids []int, x float64) {
		slices.SortFunc(kids, func(a, b int) int { return strings.Compare(tree.Nodes[a].Frame, tree.Nodes[b].Frame) })
		for _, k := range kids {
			left[k] = x
			x += float64(tree.Nodes[k].Value) * scale
			if drawn[k] {
				depth = max(depth, tree.Nodes[k].Depth+1)
			}
		}
	}
	place(tree.Children(-1), 0)
	for i := range tree.Nodes { // parents first
		place(tree.kids(i), left[i])
	}
	height := (depth+1)*rowHeight + 2*graphMargin
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<svg version="1.1" xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="monospace" font-size="12">
<rect width="100%%" height="100%%" fill="#f8f8f8"/>
<text x="%[3]d" y="24" text-anchor="middle" font-size="16">%[4]s</text>
<text id="details" x="8" y="%[5]d"> </text>
<text id="reset" x="8" y="24" cursor="pointer" visibility="hidden">Reset zoom</text>
<text id="search" x="%[6]d" y="24" text-anchor="end" cursor="pointer">Search</text>
<g id="frames">
`, graphWidth, height, graphWidth/2, svgText(s.Title), height-12, graphWidth-8)
	rect := func(name string, value int64, x, width float64, row int) {
		title := fmt.Sprintf("%s (%d %s, %.2f%%)", name, value, unit, 100*float64(value)/float64(max(total, 1)))
		y := height - graphMargin - (row+1)*rowHeight
		fmt.Fprintf(w, `<g data-x="%.3f" data-w="%.3f" data-y="%d"><title>%s</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" rx="1"/><text x="%.1f" y="%d">%s</text></g>`+"\n",
			x, width, row, svgText(title), x, y, max(width, leastWidth), rowHeight-1, flameColor(name), x+3, y+12, svgText(fitted(name, width)))
	}
	rect("all", total, 0, graphWidth, 0)
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		if drawn[i] {
			rect(n.Frame, n.Value, left[i], float64(n.Value)*scale, n.Depth+1)
		}
	}
	fmt.Fprintf(w, "</g>\n<script type=\"text/ecmascript\"><![CDATA[\n%s]]></script>\n</svg>\n", script)
	return w.Flush()
}

// graphMarkup is about what a frame takes in a flame graph beside its name, bytes.
const graphMarkup = 320

// drawn reports which frames are drawn: frames that are wide enough and fit into MaxText, the
// widest first, and of equal ones the outer.
func (s *Stacks) drawn(tree *Tree[string], scale float64) []bool {
	var wide []int
	for i := range tree.Nodes {
		if float64(tree.Nodes[i].Value)*scale >= leastWidth {
			wide = append(wide, i)
		}
	}
	slices.SortStableFunc(wide, func(a, b int) int { return cmp.Compare(tree.Nodes[b].Value, tree.Nodes[a].Value) })
	drawn, left := make([]bool, len(tree.Nodes)), s.MaxText
	s.LeftOut = ""
	for at, i := range wide {
		if s.MaxText > 0 {
			if left -= int64(graphMarkup + len(svgText(tree.Nodes[i].Frame))); left < 0 {
				s.LeftOut = fmt.Sprintf("%d of %d frames, the narrowest, are left out: all are more than %d bytes of text", len(wide)-at, len(wide), s.MaxText)
				break
			}
		}
		drawn[i] = true
	}
	return drawn
}

// merged merges the stacks by the names of their frames, as named has them. A stack without frames
// has the name of bare; "" leaves it out.
func (s *Stacks) merged(named func(string) string, bare string) *Tree[string] {
	names := map[string]int{}
	var list []string
	key := func(name string) int {
		at, ok := names[name]
		if !ok {
			at = len(names)
			names[name], list = at, append(list, name)
		}
		return at
	}
	keys := make([]int, len(s.Places))
	for i := range s.Places {
		keys[i] = key(named(s.Places[i].Shown()))
	}
	tree := NewTree[string]()
	var stack []int // the outermost first
	for i := range s.Samples {
		x := &s.Samples[i]
		stack = stack[:0]
		if x.Root != "" {
			stack = append(stack, key(named(x.Root)))
		}
		for _, f := range slices.Backward(x.Frames) {
			stack = append(stack, keys[f])
		}
		if len(stack) == 0 && bare != "" {
			stack = append(stack, key(bare))
		}
		tree.Add(len(stack), max(x.value(), 0), func(i int) int { return stack[i] }, func(i int) string { return list[stack[i]] })
	}
	return tree
}

// fitted returns as much of a name as fits into a width.
func fitted(name string, width float64) string {
	n := int(width-6) / letterWidth
	if n < 3 {
		return ""
	}
	r := []rune(name)
	if len(r) <= n {
		return name
	}
	return string(r[:n-2]) + ".."
}

// flameColor returns a warm colour that is always the same for a name.
func flameColor(name string) string {
	h := fnv.New32a()
	io.WriteString(h, name)
	v := h.Sum32()
	return fmt.Sprintf("rgb(%d,%d,%d)", 205+v%50, 80+v>>8%150, v>>16%55)
}

// svgText returns text as XML has it, which allows no control characters.
func svgText(text string) string { return html.EscapeString(printable.Escape(text)) }
