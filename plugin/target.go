package plugin

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/trad"
)

// Target is the process of a session. Its methods ask the host. Call them only in Begin, Sniff,
// Find and Decorate, in the goroutine that these run in.
type Target struct {
	Arch    string           // GOARCH's name
	Order   binary.ByteOrder // of memory
	PtrSize int              // bytes of an address

	// DWARF numbers of the program counter, the stack pointer, the frame pointer and the link
	// register. amd64 has no link register: RA is PC there.
	PC, SP, FP, RA trad.Reg

	PID  int    // 0 if not known
	Live bool   // the process runs on this machine
	Root string // the folder that its files are below: "/proc/4242/root"; "" for "/"

	Runtime *Module // in [Decorator].Find and Decorate, the file in question; else nil

	never []Range
	ask   func(*protocol.FromPlugin) (*protocol.FromHost, error)
}

// Errors of reading; test with errors.Is.
var (
	ErrUnmapped = errors.New("memory cannot be read")
	ErrTooMuch  = errors.New("the host reads at most 64 ranges, and 64 KiB, at once")
)

// Never, in Begin, names code that the plug-in never claims: the host does not ask about it. Ranges
// beyond 4096 are ignored.
func (t *Target) Never(code ...Range) { t.never = append(t.never, code...) }

// ReadMemory reads len(p) bytes at addr, 64 KiB at most. It returns the number of bytes that could
// be read, from the first on, and an error if these are not all.
func (t *Target) ReadMemory(addr uint64, p []byte) (n int, err error) {
	blocks, err := t.ReadRanges(Range{addr, addr + uint64(len(p))})
	if err != nil {
		return 0, err
	}
	if n = copy(p, blocks[0].Data); n < len(p) {
		err = fmt.Errorf("%#x: %w", addr+uint64(n), ErrUnmapped)
	}
	return n, err
}

// ReadRanges reads several ranges at once, at most 64 ranges and 64 KiB. It returns a block for
// each range. A block is shorter if some of the memory cannot be read.
func (t *Target) ReadRanges(ranges ...Range) ([]Block, error) {
	msg := &protocol.Read{}
	size := uint64(0)
	for _, r := range ranges {
		if r.Hi < r.Lo || r.Hi-r.Lo > protocol.MaxRead {
			return nil, fmt.Errorf("read [%#x, %#x): %w", r.Lo, r.Hi, ErrTooMuch)
		}
		if size += r.Hi - r.Lo; size > protocol.MaxRead {
			return nil, fmt.Errorf("read %d bytes: %w", size, ErrTooMuch)
		}
		msg.Ranges = append(msg.Ranges, &protocol.Range{Lo: r.Lo, Hi: r.Hi})
	}
	if len(ranges) > protocol.MaxRanges {
		return nil, fmt.Errorf("read %d ranges: %w", len(ranges), ErrTooMuch)
	}
	reply, err := t.ask(&protocol.FromPlugin{Message: &protocol.FromPlugin_Read{Read: msg}})
	if err != nil {
		return nil, err
	}
	memory := reply.GetMemory()
	if memory == nil || len(memory.Blocks) != len(ranges) {
		return nil, fmt.Errorf("read: the host answers with %T", reply.Message)
	}
	blocks := make([]Block, len(ranges))
	for i, b := range memory.Blocks {
		blocks[i] = Block{ranges[i].Lo, b.GetData()}
	}
	return blocks, nil
}

// Word reads a word of PtrSize bytes.
func (t *Target) Word(addr uint64) (uint64, error) {
	var room [8]byte
	p := room[:t.PtrSize]
	if _, err := t.ReadMemory(addr, p); err != nil {
		return 0, err
	}
	return t.word(p), nil
}

func (t *Target) word(p []byte) uint64 {
	if len(p) == 4 {
		return uint64(t.Order.Uint32(p))
	}
	return t.Order.Uint64(p)
}

// Modules lists the files that the process has mapped, in ascending order of addresses.
func (t *Target) Modules() ([]Module, error) {
	var list []Module
	for from := uint32(0); ; {
		reply, err := t.ask(&protocol.FromPlugin{Message: &protocol.FromPlugin_List{List: &protocol.List{From: from}}})
		if err != nil {
			return nil, err
		}
		part := reply.GetModules()
		if part == nil {
			return nil, fmt.Errorf("list: the host answers with %T", reply.Message)
		}
		for _, m := range part.Modules {
			list = append(list, *module(m))
		}
		if part.More <= from {
			return list, nil
		}
		from = part.More
	}
}

// Lookup finds functions and data by name in symbol tables. The name is not demangled. files is a
// pattern for the base names of the files to search, "" for all files. Lookup returns 16 symbols at
// most.
func (t *Target) Lookup(name, files string) ([]Symbol, error) {
	return t.find(&protocol.Find{Name: name, Module: files})
}

// SymbolAt finds the function at a run-time address. ok is false if no symbol table has one there.
func (t *Target) SymbolAt(addr uint64) (s Symbol, ok bool, err error) {
	list, err := t.find(&protocol.Find{Address: addr})
	if err != nil || len(list) == 0 {
		return s, false, err
	}
	return list[0], true, nil
}

func (t *Target) find(msg *protocol.Find) ([]Symbol, error) {
	reply, err := t.ask(&protocol.FromPlugin{Message: &protocol.FromPlugin_Find{Find: msg}})
	if err != nil {
		return nil, err
	}
	found := reply.GetFound()
	if found == nil {
		return nil, fmt.Errorf("find: the host answers with %T", reply.Message)
	}
	var list []Symbol
	for _, s := range found.Symbols {
		list = append(list, Symbol{Range: Range{s.Lo, s.Hi}, Function: s.Function})
	}
	return list, nil
}

// Query asks how to unwind THIS frame. It is valid until Sniff returns.
type Query struct {
	Target *Target

	PC             uint64         // of THIS
	AddressInBlock uint64         // the address to look up in tables: PC, or PC-1 where PC is a return address
	Level          int            // of THIS; 0 for the innermost frame
	Thread         int            // the thread's ID; 0 if not known
	Registers      arch.Registers // of THIS, as far as they are known
	NextCFA        uint64         // CFA of NEXT; 0 for frame 0
	Module         *Module        // mapped at AddressInBlock; nil if none is
	Stack          Block          // as Needs says; shorter if memory cannot be read
	Code           Block
}

// Innermost reports whether THIS is frame 0, or was interrupted by a signal. Then PC is no return
// address, and AddressInBlock is PC.
func (q *Query) Innermost() bool { return q.PC == q.AddressInBlock }

// Word reads a word of memory: from Stack or Code if they have it, else it asks the host.
func (q *Query) Word(addr uint64) (uint64, error) {
	for _, b := range []*Block{&q.Stack, &q.Code} {
		off := addr - b.Addr
		if n := uint64(len(b.Data)); off < n && n-off >= uint64(q.Target.PtrSize) {
			return q.Target.word(b.Data[off:][:q.Target.PtrSize]), nil
		}
	}
	return q.Target.Word(addr)
}

func newTarget(m *protocol.Begin) *Target {
	t := &Target{
		Arch: m.Architecture, Order: binary.LittleEndian, PtrSize: int(m.AddressSize),
		PC: trad.Reg(m.Pc), SP: trad.Reg(m.Sp), FP: trad.Reg(m.Fp), RA: trad.Reg(m.Ra),
		PID: int(m.Pid), Live: m.Live, Root: m.Root, Runtime: module(m.RunTime),
	}
	if m.BigEndian {
		t.Order = binary.BigEndian
	}
	if t.PtrSize != 4 {
		t.PtrSize = 8
	}
	return t
}
