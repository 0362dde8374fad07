package java

import (
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

// Bounds for what is told of how a virtual machine was started.
const (
	mostOptions = 64
	mostOption  = 200 // bytes
	mostStarted = 600 // bytes of all
)

// started says which virtual machine it is, its options, and what it runs, as a report of its own
// crash does: "HotSpot 17.0.15+6, -Xmx64m -Dapp.key=… Main …". Stacks are sent to other people:
// what only the program or an agent reads, and may be a password, is left out. It returns "" if the
// tables do not tell.
func (r *reading) started() string {
	release, _ := r.static("Abstract_VM_Version::_s_vm_release")
	version := r.words(release, mostOption)
	if version == "" {
		return ""
	}
	var words []string
	list, _ := r.static("Arguments::_jvm_args_array")
	count, ok := r.tables.Fields["Arguments::_num_jvm_args"]
	n, known := r.Number(0, count)
	for i := int64(0); ok && known && i < min(n, mostOptions); i++ {
		at, _ := r.Word(list + 8*uint64(i))
		if option := unsecret(r.words(at, mostOption)); strings.Contains(option, " ") {
			words = append(words, strconv.Quote(option))
		} else if option != "" {
			words = append(words, option)
		}
	}
	command, _ := r.static("Arguments::_java_command")
	if main, arguments, more := strings.Cut(r.words(command, mostOption), " "); main != "" {
		if words = append(words, main); more && arguments != "" {
			words = append(words, "…")
		}
	}
	text := "HotSpot " + version
	if len(words) > 0 {
		text += ", " + strings.Join(words, " ")
	}
	if len(text) > mostStarted {
		text = strings.ToValidUTF8(text[:mostStarted], "") + "..."
	}
	return text
}

// unsecret returns an option without the value of a system property, and what an agent is told.
func unsecret(option string) string {
	for _, kind := range []string{"-D", "-javaagent:", "-agentlib:", "-agentpath:"} {
		if name, value, ok := strings.Cut(option, "="); ok && value != "" && strings.HasPrefix(name, kind) {
			return name + "=…"
		}
	}
	return option
}

// words reads a text that ends with a zero, of up to most bytes: what is behind them is "...".
func (r *reading) words(addr uint64, most int) string {
	var text []byte
	for len(text) <= most {
		part := r.Read(addr+uint64(len(text)), int(vmstructs.MostRead-(addr+uint64(len(text)))%vmstructs.MostRead)) // of one page
		if len(part) == 0 {
			return ""
		}
		before, _, ended := strings.Cut(string(part), "\x00")
		if text = append(text, before...); ended {
			break
		}
	}
	if len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "..."
	}
	return string(text)
}
