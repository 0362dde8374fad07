package plot

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// A Panel is one system of axes, and the lines in it.
type Panel struct {
	Title  string
	X      string // the unit of the horizontal axis
	Series []Series
	// Label names a value of the vertical axis, a power of ten.
	Label func(float64) string
}

// A Series is a line, from point to point.
type Series struct {
	Name   string
	Points []Point
}

// A Point has positive coordinates; others are left out.
type Point struct{ X, Y float64 }

// Sizes in the picture's units, which are pixels where it is not scaled.
const (
	width, height = 300, 230 // of a panel
	left, right   = 64, 14   // margins in it
	top, bottom   = 34, 44
)

var colors = []string{"#0b6bcb", "#d1662f", "#3a8f4c"}

// SVG draws the panels, columns in each row.
func SVG(panels []Panel, columns int) string {
	rows := (len(panels) + columns - 1) / columns
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%d" font-family="sans-serif" font-size="10">`+"\n",
		columns*width, rows*height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n")
	for i, p := range panels {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", i%columns*width, i/columns*height)
		p.draw(&b)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// decades returns the powers of ten that hold all values, at least two apart.
func decades(values []float64) (lo, hi int) {
	lo, hi = math.MaxInt32, math.MinInt32
	for _, v := range values {
		lo, hi = min(lo, int(math.Floor(math.Log10(v)))), max(hi, int(math.Ceil(math.Log10(v))))
	}
	if lo > hi {
		return 0, 2 // no values
	}
	for hi-lo < 2 {
		lo, hi = lo-1, hi+1
	}
	return lo, hi
}

func (p *Panel) draw(b *strings.Builder) {
	var xs, ys []float64
	series := make([]Series, len(p.Series))
	for i, s := range p.Series {
		series[i].Name = s.Name
		for _, at := range s.Points {
			if at.X > 0 && at.Y > 0 && !math.IsInf(at.X, 0) && !math.IsInf(at.Y, 0) {
				series[i].Points = append(series[i].Points, at)
				xs, ys = append(xs, at.X), append(ys, at.Y)
			}
		}
	}
	xlo, xhi := decades(xs)
	ylo, yhi := decades(ys)
	place := func(v float64, lo, hi int, from, to float64) float64 {
		return from + (math.Log10(v)-float64(lo))/float64(hi-lo)*(to-from)
	}
	x := func(v float64) float64 { return place(v, xlo, xhi, left, width-right) }
	y := func(v float64) float64 { return place(v, ylo, yhi, height-bottom, top) }

	text(b, left, 16, `font-size="12" font-weight="bold"`, p.Title)
	for d := xlo; d <= xhi; d++ {
		at := x(math.Pow10(d))
		line(b, at, top, at, height-bottom)
		text(b, at, height-bottom+13, `text-anchor="middle"`, count(d))
	}
	for d := ylo; d <= yhi; d++ {
		at := y(math.Pow10(d))
		line(b, left, at, width-right, at)
		text(b, left-5, at+3, `text-anchor="end"`, p.Label(math.Pow10(d)))
	}
	text(b, (left+width-right)/2, height-bottom+28, `text-anchor="middle"`, p.X)
	for i, s := range series {
		color := colors[i%len(colors)]
		var points []string
		for _, at := range s.Points {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(at.X), y(at.Y)))
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>`+"\n", x(at.X), y(at.Y), color)
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(points, " "), color)
		text(b, float64(width-right-4), float64(top+12+13*i), fmt.Sprintf(`text-anchor="end" fill="%s"`, color), s.Name)
	}
}

func line(b *strings.Builder, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="#d8d8d8"/>`+"\n", x1, y1, x2, y2)
}

func text(b *strings.Builder, x, y float64, attributes, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" %s>`, x, y, attributes)
	xml.EscapeText(b, []byte(s)) // a Builder does not fail
	b.WriteString("</text>\n")
}

// count names a power of ten: 1, 10, 100, 1k, …
func count(power int) string {
	switch {
	case power >= 6 && power < 9:
		return fmt.Sprintf("%gM", math.Pow10(power-6))
	case power >= 3 && power < 6:
		return fmt.Sprintf("%gk", math.Pow10(power-3))
	}
	return fmt.Sprintf("%g", math.Pow10(power))
}
