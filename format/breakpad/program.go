package breakpad

import (
	"errors"
	"fmt"
	"strings"
)

// Program is the program of a [StackWin], compiled: assignments to registers of PREVIOUS, and to
// variables of its own, one after the other. ("Interpreting a STACK WIN record")
type Program struct {
	assignments []Rule
}

// maxProgram bounds the operands and operators of a program, and of an expression that it expands
// to. Compilers write some thirty.
const maxProgram = 512

// maxRules bounds the operands and operators of all rules that a program gives.
const maxRules = 8 * maxProgram

var errLongProgram = fmt.Errorf("more than %d operands and operators", maxProgram)

// ParseProgram compiles a program: "$T0 $ebp = $eip $T0 4 + ^ = …". An operand that is left over is
// an error, as in Breakpad's evaluator and not in rust-minidump's: compilers leave none, so that
// the program is cut short, and would tell some registers only. MSVC 2010 leaves out the space
// behind "=" where it generates code at link time.
func ParseProgram(s string) (*Program, error) {
	p := &Program{}
	var stack [][]operation
	tokens := 0
	do := func(token string) (err error) {
		if tokens++; tokens > maxProgram {
			return errLongProgram
		}
		if token == "=" {
			if len(stack) < 2 {
				return errors.New(`"=" lacks an operand`)
			}
			value, to := stack[len(stack)-1], stack[len(stack)-2]
			stack = stack[:len(stack)-2]
			if len(to) != 1 || to[0].code != 'r' || !strings.HasPrefix(to[0].register, "$") {
				return fmt.Errorf("nothing can be assigned to %.32q", Expr{ops: to}.String())
			}
			p.assignments = append(p.assignments, Rule{to[0].register, newExpr(value)})
			return nil
		}
		op, needs, err := parseToken(token)
		if err != nil {
			return err
		}
		if len(stack) < needs {
			return fmt.Errorf("%q lacks an operand", token)
		}
		args := stack[len(stack)-needs:]
		var ops []operation
		for _, a := range args {
			ops = append(ops, a...)
		}
		stack = append(stack[:len(stack)-needs], append(ops, op))
		return nil
	}
	for token := range strings.FieldsSeq(s) {
		if rest, glued := strings.CutPrefix(token, "="); glued && rest != "" {
			if err := do("="); err != nil {
				return nil, err
			}
			token = rest
		}
		if err := do(token); err != nil {
			return nil, err
		}
	}
	if len(stack) > 0 {
		return nil, fmt.Errorf("%d operands are left over", len(stack))
	}
	return p, nil
}

// parseToken returns the operation that a token stands for, and how many operands it takes.
func parseToken(token string) (op operation, needs int, err error) {
	switch {
	case len(token) == 1 && strings.Contains("+-*/%@", token):
		return operation{code: token[0]}, 2, nil
	case token == "^":
		return operation{code: '^'}, 1, nil
	case token == "=" || token == undef:
		return op, 0, fmt.Errorf("%q cannot be here", token)
	case token[0] == '-' || token[0] >= '0' && token[0] <= '9':
		n, err := parseNumber(token)
		if err != nil {
			return op, 0, fmt.Errorf("number %.32q", token)
		}
		return operation{code: 'n', number: n}, 0, nil
	}
	return operation{code: 'r', register: token}, 0, nil
}

// newExpr returns the expression of operations that have their operands.
func newExpr(ops []operation) Expr {
	e := Expr{ops: ops}
	depth := 0
	for _, op := range ops {
		switch op.code {
		case 'n', 'r':
			depth++
		case '^':
		default:
			depth--
		}
		e.depth = max(e.depth, depth)
	}
	return e
}

// Number returns the expression of a number.
func Number(n uint64) Expr { return newExpr([]operation{{code: 'n', number: n}}) }

// Plus returns the expression of a register's value plus a number.
func Plus(register string, n int64) Expr {
	return newExpr([]operation{{code: 'r', register: register}, {code: 'n', number: uint64(n)}, {code: '+'}})
}

// Reads reports whether the program reads a variable that it has not set.
func (p *Program) Reads(name string) bool {
	for _, a := range p.assignments {
		for read := range a.Expr.Registers {
			if read == name {
				return true
			}
		}
		if a.Register == name {
			return false
		}
	}
	return false
}

// Aligns reports whether the program aligns an address.
func (p *Program) Aligns() bool {
	for _, a := range p.assignments {
		for _, op := range a.Expr.ops {
			if op.code == '@' {
				return true
			}
		}
	}
	return false
}

// Rules returns what the program assigns, each as an expression of what THIS has: the registers,
// and the variables that are not in vars. A register's last dereference stays the last operation,
// so that [Expr.Saved] tells where it is saved.
func (p *Program) Rules(vars map[string]Expr) ([]Rule, error) {
	now := make(map[string]Expr, len(vars)+len(p.assignments))
	all := 0
	for name, e := range vars {
		now[name] = e
	}
	var order []string
	for _, a := range p.assignments {
		var ops []operation
		for _, op := range a.Expr.ops {
			if e, ok := now[op.register]; ok && op.code == 'r' {
				ops = append(ops, e.ops...)
			} else {
				ops = append(ops, op)
			}
			if len(ops) > maxProgram {
				return nil, fmt.Errorf("%s: %w", a.Register, errLongProgram)
			}
		}
		if all += len(ops); all > maxRules {
			return nil, fmt.Errorf("more than %d operands and operators in all rules", maxRules)
		}
		if _, again := now[a.Register]; !again {
			order = append(order, a.Register)
		}
		now[a.Register] = newExpr(ops)
	}
	rules := make([]Rule, 0, len(order))
	for _, name := range order {
		rules = append(rules, Rule{name, now[name]})
	}
	return rules, nil
}
