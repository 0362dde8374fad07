package v8

import (
	"bytes"
	"debug/elf"
	"regexp"
	"strconv"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// crashpadNote is a section of Chromium's, and of what has Chromium within itself, such as
// Electron: its crash reporter finds the process by it.
const crashpadNote = ".note.crashpad.info"

// chromiumNote returns the address of that section in the file, 0 if there is none.
func chromiumNote(im *elfimage.Image) uint64 {
	for _, s := range im.ELF().Sections {
		if s.Name == crashpadNote {
			return s.Addr
		}
	}
	return 0
}

func isChromium(im *elfimage.Image) bool { return chromiumNote(im) != 0 }

// Texts with the versions of Chromium and of V8. V8's is the one of Chromium divided by ten.
const (
	chromiumText = `^\d{3}\.0\.\d{4,5}\.\d{1,4}\x00`
	packedText   = `^\d{2}\.\d\.\d{1,3}(\.\d{1,3})?(-electron\.\d{1,2})?\x00`
)

// chromiumVersion returns the release of V8 in a file with Chromium; 0 if it is not there. V8's
// version alone is no proof, since other parts have numbers like it: both have to be there.
func chromiumVersion(im *elfimage.Image) (major, minor int) {
	chromium, packed := regexp.MustCompile(chromiumText), regexp.MustCompile(packedText)
	tried := map[int]bool{}
	eachText(im, ".0.", len("150"), chromium, func(text string) bool {
		milestone, _ := strconv.Atoi(text[:len("150")])
		if tried[milestone] {
			return true
		}
		tried[milestone] = true
		of := text[:2] + "." + text[2:3] + "."
		eachText(im, of, 0, packed, func(string) bool {
			major, minor = milestone/10, milestone%10
			return false
		})
		return major == 0 && len(tried) < mostMilestones
	})
	return major, minor
}

// Bounds of the search for a version: texts that may be Chromium's, and all that are looked at.
const (
	mostMilestones = 8
	mostTexts      = 1 << 16
)

// eachText hands out texts in the read-only data of a file that have a mark, before bytes behind
// their beginning, until do returns false. They stand behind a zero or a slash.
func eachText(im *elfimage.Image, mark string, before int, form *regexp.Regexp, do func(text string) bool) {
	const (
		most  = 256 << 20 // bytes
		block = 1 << 20   // that are read at once
		least = 4 << 10
		text  = 32
	)
	var room []byte
	tries := 0
	for _, p := range im.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&(elf.PF_W|elf.PF_X) != 0 {
			continue
		}
		if size := min(max(p.Filesz, least), block); uint64(len(room)) < size {
			room = make([]byte, size)
		}
		for at := uint64(0); at < min(p.Filesz, most); at += uint64(len(room) - 2*text) {
			n := im.ReadLoaded(p.Vaddr+at, room[:min(uint64(len(room)), p.Filesz-at)])
			for i := 0; ; i++ {
				next := bytes.Index(room[i:n], []byte(mark))
				if next < 0 {
					break
				}
				i += next
				begin := i - before
				if begin < 1 || room[begin-1] != 0 && room[begin-1] != '/' {
					continue
				}
				if tries++; tries > mostTexts {
					return
				}
				if m := form.Find(room[begin:min(n, begin+text)]); m != nil && !do(string(m[:len(m)-1])) {
					return
				}
			}
			if n < len(room) {
				break
			}
		}
	}
}
