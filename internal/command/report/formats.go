package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/picture"
)

// StackFormats are the formats of stacks of one moment, and stackHelp says what each is.
var StackFormats, stackHelp = FormatNames(false)

// FormatHelp is the text of the flag --format.
var FormatHelp = "instead of text: " + Either(stackHelp)

// FormatNames returns the names and help texts of the formats: all for profiles; else what stacks
// of one moment can be written in.
func FormatNames(profiles bool) (names, help []string) {
	for _, f := range picture.Formats {
		if profiles || !f.Profiles {
			names, help = append(names, f.Name), append(help, f.Help)
		}
	}
	return names, help
}

// FormatsCalled returns what --format may say, for an error: the names of the formats, and their
// other names.
func FormatsCalled(profiles bool) string {
	var list []string
	for i := range picture.Formats {
		f := &picture.Formats[i]
		if f.Profiles && !profiles {
			continue
		}
		name := f.Name
		var also []string
		for _, s := range slices.Concat(f.Suffixes, f.Aliases) {
			if s = strings.TrimPrefix(s, "."); s != name && s != "json" && !strings.HasSuffix(s, ".json") {
				also = append(also, s)
			}
		}
		if len(also) > 0 {
			name += " (or " + strings.Join(also, ", ") + ")"
		}
		list = append(list, name)
	}
	if !profiles {
		list = append(list, "json", "text")
	}
	return strings.Join(list, ", ")
}

// Either returns "a, b or c" of at least two texts.
func Either(list []string) string {
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// NotForTerminals is the error of a binary format that would be written to a terminal.
func NotForTerminals(f *picture.Format) error {
	return exit.Misuse(fmt.Errorf("--format %s is not for terminals: give -o FILE, and open that by '%s FILE'", f.Name, f.For))
}
