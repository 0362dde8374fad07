package picture

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Format is a format that stacks are written in.
type Format struct {
	Name string // as [Stacks.Write] and the flag --format have it
	// Suffixes end the names of files in the format, in lower case. No two formats have the same
	// one. A format without suffixes is chosen by its name alone.
	Suffixes []string
	More     []string // suffixes that help texts leave out
	Aliases  []string // other names, beside the suffixes without their points
	Help     string   // the name and what it is, for a list of formats
	For      string   // what the suffixes are for, as in ".folded for flamegraph.pl"
	Binary   bool     // the format is no text, for no terminal; For is the command that opens a file
	Profiles bool     // commands offer the format for profiles alone, not for stacks of one moment
	Write    func(*Stacks, io.Writer) error
}

// Formats are all formats, in the order in which commands show them.
var Formats = []Format{
	{
		Name: "pprof", Suffixes: []string{".pb.gz", ".pprof"}, More: []string{".gz", ".pb"},
		Help: "pprof (for go tool pprof)", For: "go tool pprof",
		Binary: true, Write: (*Stacks).WritePprof,
	},
	{
		Name: "folded", Suffixes: []string{".folded"}, More: []string{".txt"},
		Aliases: []string{"raw", "collapsed"}, // py-spy's, and stackcollapse's
		Help:    "folded (for flamegraph.pl)", For: "flamegraph.pl",
		Write: (*Stacks).WriteFolded,
	},
	{
		Name: "speedscope", Suffixes: []string{".json"}, More: []string{".speedscope", ".speedscope.json"},
		Help: "speedscope", For: "speedscope",
		Write: (*Stacks).WriteSpeedscope,
	},
	{
		Name: "firefox", Suffixes: []string{".firefox.json"},
		Aliases: []string{"gecko"},
		Help:    "firefox (for profiler.firefox.com)", For: "profiler.firefox.com",
		Write: (*Stacks).WriteFirefox,
	},
	{
		Name: "flamegraph", Suffixes: []string{".svg"},
		Help: "flamegraph (an SVG file for a browser)", For: "a flame graph that a browser shows",
		Write: (*Stacks).WriteFlameGraph,
	},
	{
		// Stacks of one moment have the documents of --json.
		Name: "json", Help: "json (docs/json.md)",
		Profiles: true, Write: (*Stacks).WriteJSON,
	},
}

// FormatCalled returns the format that a user means: by its name, by another one, or by a suffix of
// its files without the point, in upper or lower case; nil if there is none.
func FormatCalled(name string) *Format {
	name = strings.ToLower(name)
	if f := FormatNamed(name); f != nil {
		return f
	}
	for i := range Formats {
		f := &Formats[i]
		if slices.Contains(f.Aliases, name) || slices.Contains(f.Suffixes, "."+name) || slices.Contains(f.More, "."+name) {
			return f
		}
	}
	return nil
}

// FormatNamed returns the format with a name; nil if there is none.
func FormatNamed(name string) *Format {
	for i := range Formats {
		if Formats[i].Name == name {
			return &Formats[i]
		}
	}
	return nil
}

// FormatOfFile returns the format that a file's name tells by its suffix, in upper or lower case;
// nil if it tells none. The longest suffix counts: "x.firefox.json" is no ".json".
func FormatOfFile(name string) (found *Format) {
	name = strings.ToLower(name)
	longest := 0
	for i := range Formats {
		f := &Formats[i]
		for _, list := range [][]string{f.Suffixes, f.More} {
			for _, suffix := range list {
				if strings.HasSuffix(name, suffix) && len(suffix) > longest {
					found, longest = f, len(suffix)
				}
			}
		}
	}
	return found
}

// Write writes the stacks in the format with this name. A name that no format has is an error.
func (s *Stacks) Write(out io.Writer, format string) error {
	f := FormatNamed(format)
	if f == nil {
		return fmt.Errorf("picture: no format is called %q", format)
	}
	return f.Write(s, out)
}
