package symbol

import (
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// legacyRust returns the readable form of a name of Rust's older mangling in which an identifier
// begins with an underscore: the demangler takes that for a separator, as the newer mangling has
// it, and drops it. legacyRust returns "" for all other names.
func legacyRust(name string, opts ...demangle.Option) string {
	rest, ok := strings.CutPrefix(name, "_ZN")
	at := strings.LastIndex(name, "17h")
	if !ok || at < 0 || len(name) < at+20 || name[at+19] != 'E' || strings.Trim(name[at+3:at+19], "0123456789abcdef") != "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("_ZN")
	changed := false
	for rest != "" && rest[0] != 'E' {
		after := strings.TrimLeft(rest, "0123456789")
		n, err := strconv.Atoi(rest[:len(rest)-len(after)])
		if err != nil || n > len(after) {
			return ""
		}
		id := after[:n]
		if strings.HasPrefix(id, "_") && !strings.HasPrefix(id, "_$") { // that one stands before an escape
			id, changed = "_"+id, true
		}
		b.WriteString(strconv.Itoa(len(id)))
		b.WriteString(id)
		rest = after[n:]
	}
	if !changed {
		return ""
	}
	b.WriteString(rest)
	readable, err := demangle.ToString(b.String(), opts...)
	if err != nil || strings.Contains(readable, name[at+2:at+19]) { // it has read the name as one of C++
		return ""
	}
	return readable
}
