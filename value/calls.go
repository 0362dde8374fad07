package value

import (
	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// call evaluates what looks like a call: methods of containers whose result their printers know, and len and cap of Go.
// Nothing runs in the process.
func (e *evaluation) call(n *syntax.Node) (Value, error) {
	return Value{}, e.fail(n.At, "--print does not call functions: use sfwalk call")
}

func (e *evaluation) slice(n *syntax.Node) (Value, error) { return Value{}, e.fail(n.At, "no slice") }

func (e *evaluation) assert(n *syntax.Node) (Value, error) {
	return Value{}, e.fail(n.At, "no interface")
}
