package calling

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Caller makes the calls of expressions.
type Caller struct {
	Process inferior.Process
	Thread  *inferior.Caller // of the thread that makes the calls; nil as long as none does
	Exe     string           // the path of the program's module
	Symbols *symbol.Symbolizer
	Auxv    []byte // the process's auxiliary vector, which leads to its libraries (getauxval(3))

	ordered    []*target.Module // the modules of that generation, see inOrder
	generation uint64
	known      map[string]found // names of that generation that were looked up
}

// Prepare looks up the functions that an expression may call, so that evaluating it takes less
// time.
func (c *Caller) Prepare(text string) {
	if n, err := expression.Parse(text); err == nil {
		c.prepare(n)
	}
}

func (c *Caller) prepare(n *expression.Node) {
	if n == nil {
		return
	}
	if n.Kind == expression.Name {
		if s, ok := c.find(n.Text); ok && s.Function && !s.Indirect {
			c.Symbols.Scopes(c.Process.Modules(), s.Addr)
		}
	}
	for _, arg := range n.Args {
		c.prepare(arg)
	}
}

// MayCall reports whether a part of an expression looks like a call.
func MayCall(text string) bool {
	n, err := expression.Guess(text)
	return err == nil && hasCall(n)
}

func hasCall(n *expression.Node) bool {
	return n != nil && (n.Kind == expression.Call || slices.ContainsFunc(n.Args, hasCall))
}

// Calls reports whether an expression calls a function of the process. Elements of Fortran's
// arrays, conversions of Go and methods of C++'s containers look like calls, and are not.
func (c *Caller) Calls(text string) bool {
	n, err := expression.Guess(text)
	return err == nil && c.calls(n)
}

func (c *Caller) calls(n *expression.Node) bool {
	if n == nil {
		return false
	}
	if n.Kind == expression.Call {
		switch of := n.Args[0]; of.Kind {
		case expression.Name:
			if s, _ := c.find(of.Text); s.Function || of.Overload || c.isInScope(of.Text) {
				return true
			}
		case expression.Member:
			if !slices.Contains(read, of.Text) || c.isInScope(of.Text) {
				return true
			}
		default:
			return true
		}
	}
	return slices.ContainsFunc(n.Args, c.calls)
}

// isInScope reports whether some namespace or class of C++ has a function of a name. The names of
// C++'s library do not count.
func (c *Caller) isInScope(name string) bool {
	_, ok := c.findDemangled(c.inOrder(c.Process.Modules()), name, func(whole string) bool {
		return strings.HasSuffix(whole, "::"+name) && !strings.HasPrefix(whole, "std::") && !strings.HasPrefix(whole, "__")
	})
	return ok
}

// read are methods of C++'s library of which package value knows what they return.
var read = []string{
	"size", "length", "empty", "front", "back", "at", "get", "data", "c_str", "value", "has_value", "use_count",
}

// Place puts bytes on the thread's stack.
func (c *Caller) Place(b []byte) (uint64, error) { return c.Thread.Place(b) }

// Call has the thread call a function.
func (c *Caller) Call(ctx context.Context, x *value.Call) ([]byte, error) {
	f, args, err := signature(x)
	if err != nil {
		return nil, &value.NotCallable{Why: err.Error()}
	}
	addr := x.Addr
	if x.Indirect {
		if addr, err = c.resolve(ctx, addr); err != nil {
			return nil, err
		}
	}
	if why := c.vectors(addr, f, args); why != "" {
		return nil, &value.NotCallable{Why: why}
	}
	b, err := c.Thread.Call(ctx, addr, f, args)
	if errors.Is(err, abi.ErrType) {
		err = &value.NotCallable{Why: err.Error()}
	}
	return b, err
}

// signature returns how to call a function, and its arguments.
func signature(x *value.Call) (f *abi.Func, args []abi.Value, err error) {
	if x.Type != nil {
		f, err = x.Type.ABIFunc()
	} else {
		f = &abi.Func{Unprototyped: true}
		f.Result, err = x.Result.ABI()
	}
	if err != nil {
		return nil, nil, err
	}
	for i := range x.Arguments {
		arg := abi.Value{}
		if i < len(f.Params) {
			arg.Type = f.Params[i]
		} else if arg.Type, err = x.Arguments[i].Type.ABI(); err != nil {
			return nil, nil, err
		}
		if arg.Bytes, err = x.Arguments[i].Bytes(); err != nil {
			return nil, nil, err
		}
		args = append(args, arg)
	}
	return f, args, nil
}

// resolve asks the function at addr for the address of the one that this processor shall use.
func (c *Caller) resolve(ctx context.Context, addr uint64) (uint64, error) {
	a := c.Process.Arch()
	pointer := &abi.Type{Kind: abi.Pointer, Size: uint64(a.PtrSize)}
	b, err := c.Thread.Call(ctx, addr, &abi.Func{Result: pointer, Unprototyped: true}, c.resolverArguments())
	if err != nil {
		return 0, err
	}
	return a.Word(b), nil
}

// resolverArguments are what the dynamic linker passes to such a function: the features of the
// processor, but on amd64.
func (c *Caller) resolverArguments() []abi.Value {
	a := c.Process.Arch()
	if !a.ResolverFeatures {
		return nil
	}
	b := make([]byte, 8)
	features := linkmap.ParseAuxv(c.Auxv, a)[linkmap.ATHWCap]
	if a.Order.PutUint64(b, features); a.PtrSize == 4 {
		b = make([]byte, 4)
		a.Order.PutUint32(b, uint32(features))
	}
	return []abi.Value{{Type: &abi.Type{Kind: abi.Integer, Size: uint64(a.PtrSize)}, Bytes: b}}
}
