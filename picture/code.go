package picture

import (
	"fmt"
	"hash/fnv"
	"io"
)

// Code is whose code a frame is in.
type Code uint8

const (
	NoCode      Code = iota // it is not known, or the frame has none, such as one that stands for a process
	OwnCode                 // the program's own
	LibraryCode             // a library's, which the program has loaded
	MadeCode                // made at run time, by the process itself
	KernelCode
	LanguageCode // of a language that the process interprets, or translates by itself
)

// codes are the words and colours of a Code. Colours are told apart by people who see no red or no
// green (by their lightness as well), and black text is legible on each.
var codes = [...]struct {
	name string // "" for none
	rgb  [3]int
}{
	NoCode:       {"", [3]int{236, 236, 228}},
	OwnCode:      {"program", [3]int{240, 170, 40}},
	LibraryCode:  {"library", [3]int{120, 190, 240}},
	MadeCode:     {"made at run time", [3]int{60, 200, 150}},
	KernelCode:   {"kernel", [3]int{180, 180, 186}},
	LanguageCode: {"language", [3]int{232, 160, 226}},
}

// color returns the colour of a frame: its code's, a bit darker or lighter by the frame's name, so
// that frames side by side are told apart. A name has the same one in each picture.
func (c Code) color(name string) string {
	h := fnv.New32a()
	io.WriteString(h, name)
	light := 94 + int(h.Sum32()>>8%13) // percent
	if c == NoCode {
		light = 100
	}
	rgb := codes[c].rgb
	for i := range rgb {
		rgb[i] = min(rgb[i]*light/100, 255)
	}
	return fmt.Sprintf("#%02x%02x%02x", rgb[0], rgb[1], rgb[2])
}

// code returns whose code a place is in. What nobody has called the program's own is so if it is in
// the file that the picture is of.
func (s *Stacks) code(p *Place) Code {
	if p.Code == LibraryCode && p.Module != nil && p.Module.Path == s.Program {
		return OwnCode
	}
	return p.Code
}
