package symbol

import (
	"fmt"
	"unicode/utf8"
)

// maxName is how much of a name is given, bytes. Demanglers return no more, and no compiler makes
// longer ones; but a file's string table can be one name, which as many symbols as it likes end with.
const maxName = 1 << 16

// markRoom is for what marks a name that was cut, bytes: with it, none is longer than maxName.
const markRoom = 40

// maxNames is how many bytes of names from symbol tables are kept for a module. Those beyond are
// read again.
const maxNames = 16 << 20

// Truncate returns a name, cut where it is too long to be one: "nnn…[983040 bytes more]".
func Truncate(name string) string { return truncate(name, len(name)) }

// truncate is Truncate for a name of which the beginning is known, and the whole length.
func truncate(name string, length int) string {
	if length <= maxName {
		return name
	}
	end := min(len(name), maxName-markRoom)
	for least := end - utf8.UTFMax; end > least && end < len(name) && !utf8.RuneStart(name[end]); {
		end--
	}
	return fmt.Sprintf("%s…[%d bytes more]", name[:end], length-end)
}
