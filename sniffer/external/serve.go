package external

import (
	"strings"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/target"
)

// serve answers a request of a plug-in.
func (x *session) serve(m *protocol.FromPlugin) (*protocol.FromHost, error) {
	switch m := m.Message.(type) {
	case *protocol.FromPlugin_Read:
		memory, err := x.read(m.Read)
		return &protocol.FromHost{Message: &protocol.FromHost_Memory{Memory: memory}}, err
	case *protocol.FromPlugin_List:
		return &protocol.FromHost{Message: &protocol.FromHost_Modules{Modules: x.list(m.List.GetFrom())}}, nil
	case *protocol.FromPlugin_Find:
		return &protocol.FromHost{Message: &protocol.FromHost_Found{Found: x.find(m.Find)}}, nil
	}
	return nil, nonsense("a message of type %T", m.Message)
}

func (x *session) read(m *protocol.Read) (*protocol.Memory, error) {
	if len(m.GetRanges()) > protocol.MaxRanges {
		return nil, nonsense("a request for %d ranges of memory: at most %d", len(m.Ranges), protocol.MaxRanges)
	}
	size := uint64(0)
	for _, r := range m.GetRanges() {
		if r.GetHi() < r.GetLo() || r.GetHi()-r.GetLo() > protocol.MaxRead {
			return nil, nonsense("a request for memory [%#x, %#x): at most %d bytes", r.GetLo(), r.GetHi(), protocol.MaxRead)
		}
		size += r.GetHi() - r.GetLo()
	}
	if size > protocol.MaxRead {
		return nil, nonsense("a request for %d bytes of memory: at most %d", size, protocol.MaxRead)
	}
	to := &protocol.Memory{}
	room := make([]byte, size)
	for _, r := range m.GetRanges() {
		p := room[:r.GetHi()-r.GetLo()]
		room = room[len(p):]
		n, _ := x.about.memory.ReadMemory(r.GetLo(), p)
		to.Blocks = append(to.Blocks, &protocol.Block{Address: r.GetLo(), Data: p[:n]})
	}
	return to, nil
}

// listed describes a module without opening its file.
func listed(m *target.Module) *protocol.Module {
	const most = 1024                                                   // mappings; a process may map one file very often
	to := &protocol.Module{Path: strings.ToValidUTF8(m.Path, "\ufffd")} // gRPC refuses other text
	for _, p := range m.Mappings[:min(len(m.Mappings), most)] {
		to.Mappings = append(to.Mappings, &protocol.Mapping{Lo: p.Lo, Hi: p.Hi, Offset: p.Offset, Exec: p.Exec})
	}
	return to
}

// list lists as many modules as one message takes.
func (x *session) list(from uint32) *protocol.Modules {
	const most = 1 << 20 // bytes, about
	all := x.about.modules.All()
	to := &protocol.Modules{}
	size := 0
	for i := min(uint64(from), uint64(len(all))); i < uint64(len(all)); i++ {
		if len(to.Modules) == protocol.MaxModules || size > most {
			to.More = uint32(i)
			break
		}
		m := listed(all[i])
		size += len(m.Path) + 32*len(m.Mappings)
		to.Modules = append(to.Modules, m)
	}
	return to
}

// find searches symbol tables.
func (x *session) find(m *protocol.Find) *protocol.Found {
	to := &protocol.Found{}
	if m.GetName() == "" {
		if mod := x.about.modules.Find(m.GetAddress()); mod != nil {
			if im, bias, err := mod.Image(); err == nil {
				if s, ok := im.Symbols().Find(m.Address - bias); ok {
					to.Symbols = append(to.Symbols, found(s, bias, im.Symbols().Name(s)))
				}
			}
		}
		return to
	}
	for _, mod := range x.about.modules.All() {
		if m.Module != "" && !matches([]string{m.Module}, mod.Path) {
			continue
		}
		im, bias, err := mod.Image()
		if err != nil {
			continue
		}
		for _, s := range im.Lookup(m.Name, protocol.MaxFound-len(to.Symbols)) {
			to.Symbols = append(to.Symbols, found(s, bias, m.Name))
		}
	}
	return to
}

func found(s elf.Symbol, bias uint64, name string) *protocol.Symbol {
	return &protocol.Symbol{Lo: s.Addr + bias, Hi: s.Addr + bias + s.Size, Function: strings.ToValidUTF8(name, "\ufffd")}
}
