package dotnet

import (
	"strings"

	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/target"
)

// methodKey is what tells a method's record from another one that comes to lie at its address.
type methodKey struct {
	at uint64
	coreclr.Method
}

// method is what the frames of a method have in common.
type method struct {
	function string
	stub     bool // the run time has made it for calls between managed and native code
	hidden   bool // .NET's own traces leave it out
	row      uint32
	of       *assembly // nil if it is of none
}

const (
	unnamed = "[method]"
	stubs   = "IL_STUB" // what the names of stubs begin with
)

// method returns the method of a piece of code.
func (x *runtime) method(mem target.Memory, c *coreclr.Code) *method {
	key := methodKey{c.Method, x.vm.Method(mem, c.Method)}
	x.mu.Lock()
	m := x.methods[key]
	x.mu.Unlock()
	if m != nil {
		return m
	}
	m = &method{function: unnamed, row: key.Row}
	switch {
	case key.Name != "":
		m.function, m.stub = key.Name, strings.HasPrefix(key.Name, stubs)
	case key.Row != 0:
		m.of = x.assembly(mem, key.Module)
		if m.of.names == nil {
			break
		}
		m.hidden = m.of.names.Hidden(key.Row)
		n := m.of.names.Method(key.Row)
		switch {
		case n.Method == "":
		case n.Type == "":
			m.function = n.Method
		default:
			m.function = n.Type + "." + n.Method
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.methods) >= mostMethods {
		clear(x.methods)
	}
	x.methods[key] = m
	return m
}
