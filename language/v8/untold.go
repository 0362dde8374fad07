package v8

import (
	"bytes"
	"debug/elf"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// constantFiles has what V8 tells debuggers where it is built to, a file for each release: a name
// and a number a line.
//
//go:embed constants
var constantFiles embed.FS

// version is what a module says of its V8.
type version struct {
	major, minor int
	packed       bool             // values in objects have 32 bits, and there is a sandbox
	told         map[string]int64 // nil if the release is not known
	err          error            // it is not there, or is not known
}

// known is a function that is exported by programs with V8 that tell debuggers nothing: it is for
// native addons, which are written for Node.js.
const known = "napi_create_function"

// versionEnd is what programs have added to V8's version: "14.6.202.9-rusty". It is of the library
// by which programs in Rust, such as Deno, use V8.
const versionEnd = "-rusty"

var versionText = regexp.MustCompile(`(\d{2})\.(\d{1,2})\.\d{1,3}\.\d{1,3}$`)

// errNoVersion says that a module has no V8, as Bun has none.
var errNoVersion = errors.New("there is no V8")

// untold returns the version of V8 in a module that does not tell of its objects.
func untold(m *target.Module, im *elfimage.Image) *version {
	return m.Memo(versionEnd, func() any {
		v := &version{err: errNoVersion}
		if v.major, v.minor = findVersion(im); v.major == 0 && isChromium(im) {
			v.major, v.minor = chromiumVersion(im)
			v.packed = true
		}
		if v.major == 0 {
			return v
		}
		text, err := constantFiles.ReadFile(fmt.Sprintf("constants/%d.%d", v.major, v.minor))
		if v.packed {
			text, err = packedConstants(v.major, v.minor)
		}
		if err != nil {
			v.err = fmt.Errorf("the layout of V8 %d.%d in this program is not known", v.major, v.minor)
			return v
		}
		v.told, v.err = constantsIn(string(text)), nil
		return v
	}).(*version)
}

// packedConstants returns what V8 with packed values would tell: as another release tells, which a
// file names in its first line, but for what the file has.
func packedConstants(major, minor int) ([]byte, error) {
	of, err := constantFiles.ReadFile(fmt.Sprintf("constants/%d.%d.packed", major, minor))
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(of), "\n")
	all, err := constantFiles.ReadFile("constants/" + strings.TrimPrefix(first, "as "))
	return append(all, of...), err
}

func constantsIn(text string) map[string]int64 {
	told := map[string]int64{}
	for line := range strings.Lines(text) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			told[name] = n
		}
	}
	return told
}

// findVersion finds the version of V8 among the texts of a file; 0 if there is none.
func findVersion(im *elfimage.Image) (major, minor int) {
	const (
		most = 256 << 20 // bytes
		text = 32
	)
	room := make([]byte, 1<<20)
	for _, p := range im.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&(elf.PF_W|elf.PF_X) != 0 {
			continue
		}
		for at := uint64(0); at < min(p.Filesz, most); at += uint64(len(room) - text) {
			n := im.ReadLoaded(p.Vaddr+at, room[:min(uint64(len(room)), p.Filesz-at)])
			for found := room[:n]; ; {
				i := bytes.Index(found, []byte(versionEnd))
				if i < 0 {
					break
				}
				if m := versionText.FindSubmatch(found[max(0, i-text):i]); m != nil {
					major, _ = strconv.Atoi(string(m[1]))
					minor, _ = strconv.Atoi(string(m[2]))
					return major, minor
				}
				found = found[i+len(versionEnd):]
			}
			if n < len(room) {
				break
			}
		}
	}
	return 0, 0
}
