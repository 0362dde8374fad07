package symbol

import (
	"fmt"
	"unicode/utf8"
)

// maxName is the length in bytes of the longest name that is not cut. Demanglers return no longer
// names, and compilers make none. But a hostile file's string table can be one long name, and the
// name of each symbol a part of it.
const maxName = 1 << 16

// markRoom is the room in bytes for the mark of a name that was cut. A name with its mark is no
// longer than maxName.
const markRoom = 40

// maxNames bounds the bytes of names that are kept from a module's symbol tables. Further names are
// read again each time.
const maxNames = 16 << 20

// Truncate returns name itself if it is no longer than 64 KiB. Otherwise it returns the beginning
// of name and a mark: "nnn…[983040 bytes more]".
func Truncate(name string) string { return truncate(name, len(name)) }

// truncate is Truncate for a name of length bytes that begins with name.
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
