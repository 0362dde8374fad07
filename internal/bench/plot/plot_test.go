package plot

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// TestSVG: the picture is XML in which every point that can be drawn lies within its
// panel's axes.
func TestSVG(t *testing.T) {
	label := func(v float64) string { return fmt.Sprintf("%g µs & <more>", v) }
	svg := SVG([]Panel{
		{Title: "a < b & c", X: "frames", Label: label, Series: []Series{
			{"one", []Point{{1, 1}, {1000000, 3}, {10, 12345}}},
			{"two", []Point{{0, 5}, {5, -1}, {math.Inf(1), 1}, {2, 2}, {3, math.NaN()}}},
		}},
		{Title: "empty", X: "x", Label: label},
		{Title: "flat", X: "x", Label: label, Series: []Series{{"", []Point{{7, 7}}}}},
	}, 2)
	var size, circles int
	attribute := func(e xml.StartElement, name string) (v float64) {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				fmt.Sscan(a.Value, &v)
			}
		}
		return v
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "svg":
			if size = int(attribute(e, "width")); size != 2*width || attribute(e, "height") != 2*height {
				t.Errorf("the picture is %d wide", size)
			}
		case "circle":
			circles++
			if x := attribute(e, "cx"); !(x >= left && x <= width-right) {
				t.Errorf("a point at x %v", x)
			}
			if y := attribute(e, "cy"); !(y >= top && y <= height-bottom) {
				t.Errorf("a point at y %v", y)
			}
		}
	}
	if circles != 5 {
		t.Errorf("%d points are drawn", circles)
	}
}

func TestDecades(t *testing.T) {
	for _, c := range []struct {
		values []float64
		lo, hi int
	}{
		{nil, 0, 2}, {[]float64{1}, -1, 1}, {[]float64{1, 10}, -1, 2}, {[]float64{3, 2000}, 0, 4}, {[]float64{0.02, 0.5}, -2, 0},
	} {
		if lo, hi := decades(c.values); lo != c.lo || hi != c.hi {
			t.Errorf("decades of %v: %d to %d, want %d to %d", c.values, lo, hi, c.lo, c.hi)
		}
	}
}
