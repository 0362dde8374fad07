package picture

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// The picture's measures, in pixels. Where no script runs, graphWidth is scaled to the window.
const (
	graphWidth  = 1200
	rowHeight   = 16
	graphTop    = 60 // above the frames: the title and the legend
	graphBottom = 32 // below: what the frame is that the pointer is on
	letterWidth = 7
	titleLetter = 10
	// widest is the widest window for which names of frames are written where no script runs.
	widest = 3840
)

// leastWidth is the width below which a frame is left out, pixels, as in flamegraph.pl.
const leastWidth = 0.1

// flameGraphFormat tells the form of the picture. It is in the file.
const flameGraphFormat = 2

// script lays the picture out anew when the window has another width, searches, and zooms into a
// frame that is clicked on.
//
//go:embed flamegraph.js
var script string

// style has the colours beside the frames', also for dark windows.
//
//go:embed flamegraph.css
var style string

// label is what a frame of a merged tree is.
type label struct {
	name string
	code Code
}

// WriteFlameGraph writes a flame graph: an SVG file that needs no other one, and that fills the
// window. In a browser, a click on a frame zooms, and Ctrl-F searches by a regular expression.
// Without scripts it is the same picture at rest. Colours say whose code a frame is in. Frames that
// are narrower than a tenth of a pixel are left out, and narrow ones that are more than MaxText.
func (s *Stacks) WriteFlameGraph(out io.Writer) error {
	tree, unit := s.merged(printable.Escape, true, ""), s.unit()
	total := s.total()
	scale := 0.0
	if total > 0 {
		scale = graphWidth / float64(total)
	}
	drawn := s.drawn(tree, scale)
	left := make([]float64, len(tree.Nodes)) // by node, pixels
	depth := 0
	var has [len(codes)]bool
	place := func(kids []int, x float64) {
		slices.SortFunc(kids, func(a, b int) int {
			return cmp.Or(strings.Compare(tree.Nodes[a].Frame.name, tree.Nodes[b].Frame.name), cmp.Compare(tree.Nodes[a].Frame.code, tree.Nodes[b].Frame.code))
		})
		for _, k := range kids {
			left[k] = x
			x += float64(tree.Nodes[k].Value) * scale
			if drawn[k] {
				depth = max(depth, tree.Nodes[k].Depth+1)
				has[tree.Nodes[k].Frame.code] = true
			}
		}
	}
	place(tree.Children(-1), 0)
	for i := range tree.Nodes { // parents first
		place(tree.kids(i), left[i])
	}
	height := graphTop + (depth+1)*rowHeight + graphBottom
	w := bufio.NewWriter(out)
	title := s.caption(total)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<svg version="1.1" xmlns="http://www.w3.org/2000/svg" data-format="%d" width="100%%" style="height:auto" viewBox="0 0 %d %d" data-height="%[3]d" font-family="monospace" font-size="12">
<title>%[4]s</title>
<style>%[5]s</style>
<rect id="back" width="100%%" height="100%%"/>
<text id="title" x="50%%" y="24" text-anchor="middle" font-size="16">%[6]s</text>
<text id="reset" class="button" x="8" y="24" visibility="hidden">Reset zoom</text>
<svg overflow="visible" x="100%%"><text id="search" class="button" x="-8" y="24" text-anchor="end">Search</text></svg>
<g id="legend">
`, flameGraphFormat, graphWidth, height, svgText(title), style, svgText(fittedTo(title, (graphWidth-200)/titleLetter)))
	s.writeLegend(w, has)
	fmt.Fprintf(w, "</g>\n<text id=\"details\" x=\"8\" y=\"%d\"> </text>\n<g id=\"frames\">\n", height-12)
	frame := func(f label, value int64, x, width float64, row int) {
		const percent = 100. / graphWidth
		about := ""
		if name := codes[f.code].name; name != "" {
			about = "; " + name
		}
		fmt.Fprintf(w, `<svg x="%s%%" y="%d" width="%s%%" height="%d"><title>%s (%s, %.2f%%%s)</title><rect width="100%%" height="100%%" fill="%s" rx="1"/><text x="3" y="12">%s</text></svg>`+"\n",
			short(x*percent), height-graphBottom-(row+1)*rowHeight, short(max(width, leastWidth)*percent), rowHeight-1,
			svgText(f.name), plural(value, unit), 100*float64(value)/float64(max(total, 1)), about, f.code.color(f.name), svgText(fitted(f.name, width*widest/graphWidth)))
	}
	frame(label{name: "all"}, total, 0, graphWidth, 0)
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		if drawn[i] {
			frame(n.Frame, n.Value, left[i], float64(n.Value)*scale, n.Depth+1)
		}
	}
	fmt.Fprintf(w, "</g>\n<script type=\"text/ecmascript\"><![CDATA[\n%s]]></script>\n</svg>\n", script)
	return w.Flush()
}

// writeLegend says what the colours are that the picture has.
func (s *Stacks) writeLegend(w io.Writer, has [len(codes)]bool) {
	x := 8
	for code := OwnCode; int(code) < len(codes); code++ {
		if !has[code] {
			continue
		}
		rgb := codes[code].rgb
		fmt.Fprintf(w, `<rect x="%d" y="36" width="12" height="12" fill="#%02x%02x%02x" rx="1"/><text x="%d" y="46">%s</text>`+"\n",
			x, rgb[0], rgb[1], rgb[2], x+17, codes[code].name)
		x += 17 + 8*len(codes[code].name) + 16
	}
}

// total is how much all samples count.
func (s *Stacks) total() (sum int64) {
	for i := range s.Samples {
		sum += max(s.Samples[i].value(), 0)
	}
	return sum
}

// unit is what the samples count, in the plural.
func (s *Stacks) unit() string {
	unit := "samples"
	if len(s.Types) > 0 {
		unit = s.Types[0].Name
		if u := s.Types[0].Unit; u != "count" && u != "" {
			unit += " (" + u + ")"
		}
	}
	return unit
}

// caption is the picture's title: what it is of, for how long, and of how many samples.
func (s *Stacks) caption(total int64) string {
	var parts []string
	switch {
	case s.Title != "" && s.Title == s.Program:
		parts = append(parts, path.Base(s.Title))
	case s.Title != "":
		parts = append(parts, s.Title)
	}
	if s.Duration > 0 {
		parts = append(parts, fmt.Sprintf("%.1f s", s.Duration.Seconds()))
	}
	counted := plural(total, s.unit())
	switch {
	case s.Period > 0 && s.PeriodType.Unit == "nanoseconds":
		digits := 0
		hertz := float64(time.Second) / float64(s.Period)
		if hertz < 10 {
			digits = 2
		}
		counted += fmt.Sprintf(" at %.*f Hz", digits, hertz)
	case len(s.Types) > 1 && s.Types[0].Name == "samples":
		counted += " of " + s.Types[1].Name
	}
	parts = append(parts, counted)
	if s.Lost > 0 {
		parts = append(parts, grouped(int64(min(s.Lost, 1<<62)))+" lost")
	}
	return strings.Join(parts, ", ")
}

// plural is a number of things, whose name is in the plural.
func plural(n int64, unit string) string {
	if word, is := strings.CutSuffix(unit, "s"); is && n == 1 {
		unit = word
	}
	return grouped(n) + " " + unit
}

// grouped writes a number that is not negative with commas between thousands.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// short writes a percentage, as exactly as a pixel of the widest window takes.
func short(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(x, 'f', 4, 64), "0"), ".")
}

// graphMarkup is about what a frame takes in a flame graph beside its name, bytes.
const graphMarkup = 240

// drawn reports which frames are drawn: frames that are wide enough and fit into MaxText, the
// widest first, and of equal ones the outer.
func (s *Stacks) drawn(tree *Tree[label], scale float64) []bool {
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
			name := tree.Nodes[i].Frame.name
			left -= int64(graphMarkup + len(svgText(name)) + len(svgText(fitted(name, float64(tree.Nodes[i].Value)*scale*widest/graphWidth))))
			if left < 0 {
				s.LeftOut = fmt.Sprintf("%d of %d frames, the narrowest, are left out: all are more than %d bytes of text", len(wide)-at, len(wide), s.MaxText)
				break
			}
		}
		drawn[i] = true
	}
	return drawn
}

// merged merges the stacks by the names of their frames, as named has them, and with codes by whose
// code they are in. A stack without frames has the name of bare; "" leaves it out.
func (s *Stacks) merged(named func(string) string, codes bool, bare string) *Tree[label] {
	labels := map[label]int{}
	var list []label
	key := func(name string, code Code) int {
		l := label{name: name}
		if codes {
			l.code = code
		}
		at, ok := labels[l]
		if !ok {
			at = len(labels)
			labels[l], list = at, append(list, l)
		}
		return at
	}
	keys := make([]int, len(s.Places))
	for i := range s.Places {
		keys[i] = key(named(s.Places[i].Shown()), s.code(&s.Places[i]))
	}
	tree := NewTree[label]()
	var stack []int // the outermost first
	for i := range s.Samples {
		x := &s.Samples[i]
		stack = stack[:0]
		if x.Root != "" {
			stack = append(stack, key(named(x.Root), NoCode))
		}
		for _, f := range slices.Backward(x.Frames) {
			stack = append(stack, keys[f])
		}
		if len(stack) == 0 && bare != "" {
			stack = append(stack, key(bare, NoCode))
		}
		tree.Add(len(stack), max(x.value(), 0), func(i int) int { return stack[i] }, func(i int) label { return list[stack[i]] })
	}
	return tree
}

// fitted returns as much of a name as fits into a width.
func fitted(name string, width float64) string { return fittedTo(name, int(width-6)/letterWidth) }

// fittedTo returns as much of a name as n letters show.
func fittedTo(name string, n int) string {
	if n < 3 {
		return ""
	}
	if len(name) <= n {
		return name
	}
	r := []rune(name)
	if len(r) <= n {
		return name
	}
	return string(r[:n-2]) + ".."
}

// svgText returns text as XML has it, which allows no control characters.
func svgText(text string) string { return html.EscapeString(printable.Escape(text)) }
