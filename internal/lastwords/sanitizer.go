package lastwords

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// ofSanitizer returns the words of the run-time libraries of compilers' sanitizers:
// AddressSanitizer keeps the report that it has written; a function of UndefinedBehaviorSanitizer
// has the place as an argument.
func (f *finder) ofSanitizer() []Words {
	for i := range f.Frames {
		for _, function := range f.Frames[i].Functions {
			if strings.HasPrefix(function, "__asan::") || strings.HasPrefix(function, "__asan_report_") {
				if text, ok := f.asanReport(&f.Frames[i]); ok {
					return []Words{{Text: text, From: "the report of AddressSanitizer"}}
				}
			}
			kind, handler := strings.CutPrefix(strings.TrimPrefix(function, "__ubsan::"), "__ubsan_handle_")
			kind, aborts := strings.CutSuffix(kind, "_abort")
			if !handler || !aborts || i+1 == len(f.Frames) {
				continue
			}
			text, ok := f.undefined(kind, &f.Frames[i+1])
			if !ok {
				return nil
			}
			return []Words{{Text: text, From: "the arguments of " + function}}
		}
	}
	return nil
}

// mostReport is the size of the text of a report (kErrorMessageBufferSize in asan_report.cpp),
// bytes.
const mostReport = 64 << 10

// Parts of a report: colours for a terminal, the first line behind the process's ID, and the lines
// that say more of the error.
var (
	colours     = expression(`\x1b\[[0-9;]*m`)
	reportError = expression(`(?m)^==\d+== ?(ERROR: AddressSanitizer: .+)\n((?:(?:READ|WRITE) of size .+|==\d+==The signal is caused by .+)\n)?`)
	processID   = expression(`^==\d+==`)
	reportSum   = expression(`(?m)^SUMMARY: AddressSanitizer: .+`)
)

// expression compiles a regular expression when it is first asked for: most commands need none.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// asanReport returns the lines of a report that say what the error is, and where. The function that
// ends the process has a copy of the text, on pages of its own: a register has their address, or
// the stack up to the frame outer.
func (f *finder) asanReport(outer *Frame) (string, bool) {
	if f.Frames[0].Registers == nil {
		return "", false
	}
	sp, _ := f.Frames[0].Registers.Get(f.arch.SP)
	list := f.stackOf(sp, outer.CFA).list
	if outer.Registers != nil {
		for _, r := range f.arch.Regs {
			if v, known := outer.Registers.Get(r.Num); known {
				list = append(list, v)
			}
		}
	}
	for _, at := range list {
		const line = 65
		if at == 0 || at%leastPage != 0 || strings.Trim(string(f.bytes(at, line)), "=") != "" {
			continue
		}
		report, _, whole := strings.Cut(string(f.part(at, mostReport)), "\x00")
		report = colours().ReplaceAllString(report, "")
		first := reportError().FindStringSubmatch(report)
		if !whole || first == nil {
			continue
		}
		text := first[1]
		if first[2] != "" {
			text += "\n" + processID().ReplaceAllString(strings.TrimSuffix(first[2], "\n"), "")
		}
		if sum := reportSum().FindString(report); sum != "" {
			text += "\n" + sum
		}
		return text, len(text) <= maxText
	}
	return "", false
}

// undefined returns the place of undefined behaviour and its kind. caller is the frame that has
// called the handler: the first argument has the place, a file, a line and a column.
func (f *finder) undefined(kind string, caller *Frame) (string, bool) {
	args, ok := f.argumentsOf(caller, 1)
	if !ok || !f.constant(args[0]) {
		return "", false
	}
	size := uint64(f.arch.PtrSize)
	p, ok := f.word(args[0])
	if !ok {
		return "", false
	}
	file, ok := f.constantText(p)
	if !ok {
		return "", false
	}
	// The library has written over the column, so that it reports the place once. The file has it.
	var data [8]byte
	m := f.Target.Modules().Find(args[0])
	im, bias, err := m.PeekImage()
	if err != nil || im.ReadLoaded(args[0]+size-bias, data[:]) < len(data) {
		return "", false
	}
	line, column := f.arch.Order.Uint32(data[:]), f.arch.Order.Uint32(data[4:])
	if line == 0 || line > mostLines || column > mostColumns {
		return "", false
	}
	return fmt.Sprintf("%s:%d:%d: runtime error: %s", file, line, column, strings.ReplaceAll(kind, "_", " ")), true
}
