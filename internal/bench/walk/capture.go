//go:build linux

package walk

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/trad"
)

// A Capture is one thread's registers, its stack, and the files that were mapped. It is a
// target.Target of one thread, a target.Thread, and a target.Memory of the stack and of the code,
// which sniffers read.
//
// Its file has a line for each register, module and mapping, with hexadecimal numbers except for
// the registers':
//
//	arch NAME
//	register NUMBER VALUE        by DWARF's number
//	module LO HI PATH            a file, from its lowest address to its highest
//	mapping LO HI OFFSET EXEC    of the file before
//
// Behind an empty line are the bytes of the stack, from SP on.
type Capture struct {
	registers arch.Registers
	arch      *arch.Arch
	lo        uint64 // of the stack
	stack     []byte
	modules   *target.Modules
	code      []code // ascending
	opened    []*os.File
}

// code is the executable part of a mapped file.
type code struct {
	lo   uint64
	data []byte
}

// Take writes the first thread of a process into a file.
func Take(ctx context.Context, pid int, file string) error {
	t, err := live.Attach(ctx, pid, live.Options{})
	if err != nil {
		return err
	}
	defer t.Close()
	threads, err := t.Threads()
	if err != nil {
		return err
	}
	var regs arch.Registers
	if err := threads[0].Registers(&regs); err != nil {
		return err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "arch %s\n", t.Arch().Name)
	for r := trad.Reg(0); r < arch.MaxReg; r++ {
		if v, ok := regs.Get(r); ok {
			fmt.Fprintf(&out, "register %d %x\n", r, v)
		}
	}
	for _, m := range t.Modules().All() {
		if !strings.HasPrefix(m.Path, "/") {
			continue // the kernel's: no file
		}
		last := m.Mappings[len(m.Mappings)-1]
		fmt.Fprintf(&out, "module %x %x %s\n", m.Lo(), last.Hi, m.Path)
		for _, p := range m.Mappings {
			exec := 0
			if p.Exec {
				exec = 1
			}
			fmt.Fprintf(&out, "mapping %x %x %x %d\n", p.Lo, p.Hi, p.Offset, exec)
		}
	}
	out.WriteByte('\n')
	sp, _ := regs.Get(t.Arch().SP)
	block := make([]byte, 4096)
	for {
		n, err := t.Memory().ReadMemory(sp, block)
		out.Write(block[:n])
		if sp += uint64(n); err != nil || n < len(block) {
			break // behind the stack
		}
	}
	return os.WriteFile(file, out.Bytes(), 0o666)
}

// Open reads a file of Take.
func Open(file string) (*Capture, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	head, stack, found := bytes.Cut(raw, []byte("\n\n"))
	if !found {
		return nil, fmt.Errorf("%s: no empty line", file)
	}
	c := &Capture{stack: stack}
	var paths []string
	mappings := map[string][]target.Mapping{}
	for lines := bufio.NewScanner(bytes.NewReader(head)); lines.Scan(); {
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		switch kind {
		case "arch":
			if c.arch = arch.ByName(rest); c.arch == nil {
				err = errors.New("not an architecture")
			}
		case "register":
			var number trad.Reg
			var value uint64
			if _, err = fmt.Sscanf(rest, "%d %x", &number, &value); err == nil && number < arch.MaxReg {
				c.registers.Set(number, value)
			}
		case "module":
			fields := strings.SplitN(rest, " ", 3)
			paths = append(paths, fields[len(fields)-1])
		case "mapping":
			var p target.Mapping
			var exec int
			_, err = fmt.Sscanf(rest, "%x %x %x %d", &p.Lo, &p.Hi, &p.Offset, &exec)
			p.Exec = exec == 1
			if len(paths) > 0 {
				path := paths[len(paths)-1]
				mappings[path] = append(mappings[path], p)
			}
		default:
			err = fmt.Errorf("no %q is known", kind)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", file, lines.Text(), err)
		}
	}
	var modules []*target.Module
	for _, path := range paths {
		modules = append(modules, target.NewModule(path, mappings[path], func() (*elf.Image, error) {
			image, opened, err := elf.OpenFile(path)
			if err == nil {
				c.opened = append(c.opened, opened)
			}
			return image, err
		}))
	}
	if c.arch == nil {
		return nil, fmt.Errorf("%s: no architecture", file)
	}
	c.lo, _ = c.registers.Get(c.arch.SP)
	c.modules = target.NewModules(modules, nil)
	for _, m := range c.modules.All() {
		im, bias, err := m.Image()
		if err != nil {
			return nil, err
		}
		for _, p := range m.Mappings {
			if p.Exec {
				c.code = append(c.code, code{p.Lo, im.Loaded(p.Lo-bias, p.Hi-p.Lo)})
			}
		}
	}
	return c, nil
}

// Close closes the modules' files.
func (c *Capture) Close() error {
	for _, f := range c.opened {
		f.Close()
	}
	return nil
}

func (c *Capture) Arch() *arch.Arch                  { return c.arch }
func (c *Capture) Memory() target.Memory             { return c }
func (c *Capture) Modules() *target.Modules          { return c.modules }
func (c *Capture) Threads() ([]target.Thread, error) { return []target.Thread{c}, nil }

func (c *Capture) ID() int      { return 1 }
func (c *Capture) Name() string { return "" }

func (c *Capture) Registers(r *arch.Registers) error {
	*r = c.registers
	return nil
}

// ReadMemory implements target.Memory. The error is the same for all addresses: to format an
// address would take longer than a walk.
func (c *Capture) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if off := addr - c.lo; off < uint64(len(c.stack)) {
		n = copy(p, c.stack[off:])
	} else {
		for i := range c.code {
			if off := addr - c.code[i].lo; off < uint64(len(c.code[i].data)) {
				n = copy(p, c.code[i].data[off:])
				break
			}
		}
	}
	if n < len(p) {
		return n, target.ErrUnmapped
	}
	return n, nil
}

// Window implements target.CopiedMemory.
func (c *Capture) Window(addr uint64) (uint64, []byte) {
	if addr-c.lo < uint64(len(c.stack)) {
		return c.lo, c.stack
	}
	return 0, nil
}
