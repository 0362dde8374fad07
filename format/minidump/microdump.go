package minidump

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// A microdump is a crash report as lines of a log (Android's logcat), which Breakpad's client
// writes where it may write no file: one thread's registers and stack, and the modules. Each line
// has the writer's name, and behind ": " a letter and fields:
//
//	google-breakpad(3745): -----BEGIN BREAKPAD MICRODUMP-----
//	google-breakpad(3745): V Chrome_Android:49.0.2623.15                          product
//	google-breakpad(3745): P webview                                              kind of process
//	google-breakpad(3745): O A arm 02 armv7l VERSION                              system, processor, how many, hardware, release
//	google-breakpad(3745): G OpenGL ES 3.0 V@104.0|Qualcomm|Adreno (TM) 330       graphics
//	google-breakpad(3745): R 0000000B SIGSEGV 00000010                            signal, its name, address
//	google-breakpad(3745): S 0 FFEA68C0 FFEA6000 00002000                         SP; the stack's begin and size
//	google-breakpad(3745): S FFEA6000 00000000…                                   bytes of the stack
//	google-breakpad(3745): C 06000040…                                            the context
//	google-breakpad(3745): M AAACD000 00000000 0007C000 DA77…0 libc.so            begin, offset in the file, size, identifier, name
//	google-breakpad(3745): -----END BREAKPAD MICRODUMP-----

const (
	microdumpName  = "google-breakpad"
	microdumpBegin = "-----BEGIN BREAKPAD MICRODUMP-----"
	microdumpEnd   = "-----END BREAKPAD MICRODUMP-----"

	maxLine       = 1 << 20
	maxMicrodumps = 1 << 10
	maxModules    = 1 << 16
)

// OpenMicrodumps reads the microdumps of a file, as [ReadMicrodumps] does.
func OpenMicrodumps(path string) ([]*File, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("log %s: %w", path, withoutPath(err))
	}
	defer file.Close()
	list, err := ReadMicrodumps(file)
	for _, f := range list {
		f.ownedBy(regular.OwnerOf(file))
	}
	if err != nil {
		return list, fmt.Errorf("log %s: %w", path, err)
	}
	return list, nil
}

// ReadMicrodumps reads the microdumps of a log, in its order. Lines that are broken cost themselves
// and a warning. The error wraps [ErrNot] if the log has none.
func ReadMicrodumps(log io.Reader) ([]*File, error) {
	lines := bufio.NewScanner(log)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var list []*File
	var d *microdump
	end := func() {
		if d != nil {
			list = append(list, d.file())
			d = nil
		}
	}
	left := maxRead
	for lines.Scan() {
		_, text, ok := strings.Cut(lines.Text(), microdumpName)
		if !ok {
			continue
		}
		pid, text, ok := strings.Cut(text, ": ")
		if !ok {
			continue
		}
		switch text = strings.TrimRight(text, "\r"); {
		case text == microdumpBegin:
			end()
			if len(list) == maxMicrodumps {
				return list, fmt.Errorf("more than %d microdumps", maxMicrodumps)
			}
			d = newMicrodump(pid)
		case text == microdumpEnd:
			end()
		case d != nil:
			if left -= len(text); left < 0 {
				end()
				return list, errMuch
			}
			if err := d.line(text); err != nil {
				d.f.warn("microdump: %.40q: %w", text, err)
			}
		}
	}
	end()
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		if len(list) > 0 {
			return list, fmt.Errorf("a line is longer than %d bytes", maxLine)
		}
	case err != nil:
		return list, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("it has no microdump: %w", ErrNot)
	}
	return list, nil
}

// microdump is one that is being read.
type microdump struct {
	f       *File
	data    []byte // the context and the stack, as the file of a dump has them
	context Location
}

func newMicrodump(pid string) *microdump {
	id, _ := strconv.ParseUint(strings.Trim(pid, "() "), 10, 31)
	f := &File{Order: binary.LittleEndian, Misc: Misc{PID: uint32(id)}}
	f.Exception = &Exception{Thread: uint32(id)} // the thread's own ID is not told
	return &microdump{f: f}
}

// microdumpProcessors are the names that microdumps have for processors.
var microdumpProcessors = map[string]Processor{
	"arm": ARM, "arm64": ARM64Old, "x86": X86, "x86_64": AMD64, "mips": MIPS, "mips64": MIPS64, "riscv": RISCV, "riscv64": RISCV64,
}

var errFields = errors.New("a field is missing or broken")

func (d *microdump) line(text string) error {
	kind, rest, _ := strings.Cut(text, " ")
	fields := strings.Fields(rest)
	switch kind {
	case "V":
		d.f.Annotations = append(d.f.Annotations, Annotation{"version", rest})
	case "P":
		d.f.Annotations = append(d.f.Annotations, Annotation{"process", rest})
	case "G":
		if rest != "UNKNOWN" {
			d.f.System.Graphics = rest
		}
	case "O":
		return d.system(rest)
	case "R":
		return d.reason(fields)
	case "S":
		return d.stack(fields)
	case "C":
		b, err := hex.DecodeString(rest)
		d.context = d.put(b)
		return err
	case "M":
		return d.module(fields)
	}
	return nil // H: the address space, and what is to come
}

// put adds bytes of the process.
func (d *microdump) put(b []byte) Location {
	l := Location{uint64(len(b)), uint64(len(d.data))}
	d.data = append(d.data, b...)
	return l
}

func (d *microdump) system(rest string) error {
	fields := strings.SplitN(rest, " ", 5)
	if len(fields) < 4 {
		return errFields
	}
	s := &d.f.System
	s.OS = LinuxOS
	if fields[0] == "A" {
		s.OS = Android
	}
	p, ok := microdumpProcessors[fields[1]]
	if !ok {
		return errFields
	}
	n, err := strconv.ParseUint(fields[2], 16, 8)
	s.Known, s.Processor, s.Processors = true, p, int(n)
	if len(fields) == 5 {
		s.Version = fields[4]
	}
	return err
}

// numbers parses hexadecimal numbers.
func numbers(fields []string, to ...*uint64) (err error) {
	if len(fields) < len(to) {
		return errFields
	}
	for i, p := range to {
		if *p, err = strconv.ParseUint(fields[i], 16, 64); err != nil {
			return err
		}
	}
	return nil
}

func (d *microdump) reason(fields []string) error {
	var code, addr uint64
	if len(fields) != 3 {
		return errFields
	}
	err := numbers([]string{fields[0], fields[2]}, &code, &addr)
	d.f.Exception.Code, d.f.Exception.Address, d.f.words = uint32(code), addr, fields[1]
	return err
}

func (d *microdump) stack(fields []string) error {
	var lo uint64
	if len(fields) == 4 && fields[0] == "0" {
		return nil // SP, which the context has, and the range that the next lines fill
	}
	if err := numbers(fields, &lo); err != nil || len(fields) != 2 {
		return errors.Join(err, errFields)
	}
	b, err := hex.DecodeString(fields[1])
	if err != nil {
		return err
	}
	if n := len(d.f.Memory); n > 0 { // lines continue one another
		if last := &d.f.Memory[n-1]; last.Lo+last.Size == lo && last.Offset+last.Size == uint64(len(d.data)) {
			d.put(b)
			last.Size += uint64(len(b))
			return nil
		}
	}
	d.f.Memory = append(d.f.Memory, Range{lo, d.put(b)})
	return nil
}

func (d *microdump) module(fields []string) error {
	var m Module
	var offset uint64
	if len(fields) < 5 || len(d.f.Modules) == maxModules {
		return errFields
	}
	if err := numbers(fields, &m.Base, &offset, &m.Size); err != nil {
		return err
	}
	m.Name = strings.Join(fields[4:], " ")
	m.CodeView = CodeView{Kind: named, File: m.Name, ID: fields[3]}
	d.f.Modules = append(d.f.Modules, m)
	return nil
}

// arm64Context is the size of Microsoft's context of arm64. Breakpad's own was smaller.
const arm64Context = 912

// file returns what was read.
func (d *microdump) file() *File {
	f := d.f
	if f.System.Processor == ARM64Old && d.context.Size >= arm64Context {
		f.System.Processor = ARM64
	}
	t := Thread{ID: f.Misc.PID, Context: d.context}
	if len(f.Memory) > 0 {
		t.Stack = f.Memory[0]
	}
	f.Threads = []Thread{t}
	f.r = &reader{r: bytes.NewReader(d.data), size: int64(len(d.data)), order: f.Order}
	return f
}
