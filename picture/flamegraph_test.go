package picture_test

import (
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
)

// flame is what a parser of XML finds in a flame graph.
type flame struct {
	Width  string       `xml:"width,attr"`
	Box    string       `xml:"viewBox,attr"`
	Format string       `xml:"data-format,attr"`
	Style  string       `xml:"style"`
	Script string       `xml:"script"`
	Texts  []flameText  `xml:"text"`
	Groups []flameGroup `xml:"g"`
}

type flameText struct {
	ID   string `xml:"id,attr"`
	Text string `xml:",chardata"`
}

type flameGroup struct {
	ID     string       `xml:"id,attr"`
	Frames []flameFrame `xml:"svg"`
	Rects  []flameRect  `xml:"rect"`
	Texts  []string     `xml:"text"`
}

type flameRect struct {
	Fill string `xml:"fill,attr"`
}

type flameFrame struct {
	X     string    `xml:"x,attr"`
	Width string    `xml:"width,attr"`
	Y     int       `xml:"y,attr"`
	Style string    `xml:"style,attr"`
	Title string    `xml:"title"`
	Text  string    `xml:"text"`
	Rect  flameRect `xml:"rect"`
}

func parsed(t *testing.T, text string) (f flame) {
	t.Helper()
	if err := xml.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f flame) group(id string) flameGroup {
	return f.Groups[slices.IndexFunc(f.Groups, func(g flameGroup) bool { return g.ID == id })]
}

func (f flame) text(id string) string {
	return f.Texts[slices.IndexFunc(f.Texts, func(x flameText) bool { return x.ID == id })].Text
}

func share(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !strings.HasSuffix(text, "%") {
		t.Fatalf("%q is no share: %v", text, err)
	}
	return x
}

// A frame is as wide as its share of the whole, lies on the frame that has called it, and frames
// that one has called are together no wider than it.
func TestFlameGraphWidths(t *testing.T) {
	s := &picture.Stacks{Types: []picture.Type{{Name: "samples", Unit: "count"}}}
	counts := map[string]int{"a": 70, "a b": 31, "a b c": 17, "a c": 5, "d": 3, "d a b c e": 9}
	total := 0
	for stack, n := range counts {
		var frames []picture.Place
		for _, name := range strings.Fields(stack) {
			frames = append([]picture.Place{{Function: name}}, frames...)
		}
		s.Add(frames, picture.Sample{Values: []int64{int64(n)}})
		total += n
	}
	f := parsed(t, written(t, s, "flamegraph"))
	if f.Width != "100%" || f.Box == "" {
		t.Errorf("width %q, viewBox %q", f.Width, f.Box)
	}
	title := regexp.MustCompile(`^(\S+) \((\d+) samples, ([\d.]+)%\)$`)
	frames := f.group("frames").Frames
	if len(frames) != 10 {
		t.Errorf("%d frames", len(frames))
	}
	for _, x := range frames {
		m := title.FindStringSubmatch(x.Title)
		if m == nil {
			t.Fatalf("%q", x.Title)
		}
		n, _ := strconv.Atoi(m[2])
		left, width := share(t, x.X), share(t, x.Width)
		if want := 100 * float64(n) / float64(total); math.Abs(width-want) > 0.001 || m[3] != fmt.Sprintf("%.2f", want) {
			t.Errorf("%s is %v%% wide, want %v", x.Title, width, want)
		}
		if m[1] == "all" {
			continue
		}
		below, beside := 0, 0.0 // frames that carry this one; the width of all that stand there, too
		for _, y := range frames {
			if l, w := share(t, y.X), share(t, y.Width); y.Y == x.Y+16 && l <= left+0.001 && l+w >= left+width-0.001 {
				below++
				for _, z := range frames {
					if zl := share(t, z.X); z.Y == x.Y && zl >= l-0.001 && zl < l+w-0.001 {
						beside += share(t, z.Width)
					}
				}
				if beside > w+0.001 {
					t.Errorf("on %s are %v%% in %v%%", y.Title, beside, w)
				}
			}
		}
		if below != 1 {
			t.Errorf("%s stands on %d frames", x.Title, below)
		}
	}
}

// The title says what the picture is of, for how long, and of how many samples.
func TestFlameGraphTitle(t *testing.T) {
	s := &picture.Stacks{Title: "/usr/bin/redis-server", Program: "/usr/bin/redis-server", Duration: 10 * time.Second, Lost: 3,
		Types: []picture.Type{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, PeriodType: picture.Type{Name: "cpu", Unit: "nanoseconds"}, Period: int64(time.Second) / 99}
	s.Add([]picture.Place{{Function: "main"}}, picture.Sample{Values: []int64{4812, 1}})
	for _, v := range []struct {
		change func()
		want   string
	}{
		{func() {}, "redis-server, 10.0 s, 4,812 samples at 99 Hz, 3 lost"},
		{func() { s.Title, s.Lost = "redis-server --port 1", 0 }, "redis-server --port 1, 10.0 s, 4,812 samples at 99 Hz"},
		{func() { s.Period, s.Types[1].Name = 0, "page-faults" }, "redis-server --port 1, 10.0 s, 4,812 samples of page-faults"},
		{func() { s.Types, s.Duration, s.Samples[0].Values[0] = []picture.Type{{"threads", "count"}}, 0, 1 }, "redis-server --port 1, 1 thread"},
	} {
		v.change()
		if got := parsed(t, written(t, s, "flamegraph")).text("title"); got != v.want {
			t.Errorf("%q, want %q", got, v.want)
		}
	}
}

// Frames of one name are apart if they are whose code differs. The legend has the colours that are
// there, and each frame's is the one of its code, but for its lightness.
func TestFlameGraphCode(t *testing.T) {
	lib := &picture.Module{Path: "/lib/l.so"}
	s := &picture.Stacks{Program: "/bin/x", Types: []picture.Type{{Name: "samples", Unit: "count"}}}
	for _, p := range []picture.Place{
		{Function: "copy", Code: picture.KernelCode}, {Function: "copy", Code: picture.LibraryCode, Module: lib}, {Function: "copy", Code: picture.MadeCode},
		{Function: "main", Code: picture.LibraryCode, Module: &picture.Module{Path: "/bin/x"}}, {Name: "[cut]"},
	} {
		s.Add([]picture.Place{p}, picture.Sample{Values: []int64{1}})
	}
	f := parsed(t, written(t, s, "flamegraph"))
	legend := f.group("legend")
	if got := strings.Join(legend.Texts, ","); got != "program,library,made at run time,kernel" || len(legend.Rects) != 4 {
		t.Fatalf("the legend has %q", got)
	}
	kind := regexp.MustCompile(`; ([^;]+)\)$`)
	seen := 0
	for _, x := range f.group("frames").Frames {
		m := kind.FindStringSubmatch(x.Title)
		if m == nil {
			continue
		}
		seen++
		r, g, b := rgb(t, legend.Rects[slices.Index(legend.Texts, m[1])].Fill)
		r2, g2, b2 := rgb(t, x.Rect.Fill)
		for _, ratio := range []float64{r2 / r, g2 / g, b2 / b} {
			if ratio < 0.9 || ratio > 1.1 {
				t.Errorf("%s has the colour %s", x.Title, x.Rect.Fill)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d frames say whose code they are in", seen)
	}
}

func rgb(t *testing.T, text string) (r, g, b float64) {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 16, 32)
	if err != nil || len(text) != 7 {
		t.Fatalf("%q is no colour", text)
	}
	return float64(n >> 16), float64(n >> 8 & 255), float64(n & 255)
}

// The pictures of the documentation are as this release draws them: make pictures.
func TestPicturesOfDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/slow-server.svg")
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := parsed(t, string(text)), parsed(t, written(t, example(), "flamegraph"))
	if theirs.Format != ours.Format || theirs.Style != ours.Style || theirs.Script != ours.Script {
		t.Errorf("docs/slow-server.svg was made by another release: make pictures")
	}
}

// In a browser, names are as long as their frames are wide, at each width of the window, and a
// click on a frame has it as wide as the window.
func TestFlameGraphInBrowser(t *testing.T) {
	gdbtest.NeedSoak(t)
	chromium := gdbtest.Tool(t, "chromium")
	s := &picture.Stacks{Types: []picture.Type{{Name: "samples", Unit: "count"}}}
	const long = "a_function_with_a_name_of_some_sixty_letters_which_takes_400_px"
	s.Add([]picture.Place{{Function: long}}, picture.Sample{Values: []int64{20}})
	s.Add([]picture.Place{{Function: "z"}}, picture.Sample{Values: []int64{80}})
	file := filepath.Join(t.TempDir(), "x.svg")
	if err := os.WriteFile(file, []byte(written(t, s, "flamegraph")), 0o600); err != nil {
		t.Fatal(err)
	}
	shown := func(width int) flame {
		out, err := exec.Command(chromium, "--headless", "--no-sandbox", "--hide-scrollbars", fmt.Sprintf("--window-size=%d,600", width), "--dump-dom", "file://"+file).Output()
		if err != nil {
			t.Fatal(err)
		}
		return parsed(t, string(out))
	}
	for width, want := range map[int]string{1000: long[:25] + "..", 2500: long} {
		f := shown(width)
		if frames := f.group("frames").Frames; f.Box != "" || frames[1].Text != want {
			t.Errorf("at %d pixels: viewBox %q, %q, want %q", width, f.Box, frames[1].Text, want)
		}
	}
	text := written(t, s, "flamegraph")
	text = strings.TrimSuffix(text, "</svg>\n") + `<script>document.getElementById("frames").children[1].dispatchEvent(new MouseEvent("click"))</script></svg>`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	frames := shown(1000).group("frames").Frames
	if frames[1].Width != "100%" || frames[1].Text != long || !strings.Contains(frames[2].Style, "none") || frames[0].Width != "100%" {
		t.Errorf("after a click: %+v", frames)
	}
}
