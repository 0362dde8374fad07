package breakpad

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Names that STACK CFI rules have for what is no register of the processor.
const (
	CFA = ".cfa" // the canonical frame address
	RA  = ".ra"  // the return address
)

// Rule says what one register of PREVIOUS is, or the CFA.
type Rule struct {
	Register string // as it is written: ".cfa", ".ra", "$rbx", "x19"
	Expr     Expr
}

// Expr is a postfix expression of a STACK CFI rule, compiled: its operands are there and in their
// places. ("Interpreting STACK CFI records")
type Expr struct {
	ops   []operation
	depth int // how many values are on the stack at most
}

// operation is one step of an expression.
type operation struct {
	code     byte   // 'n' for a number, 'r' for a register, else the operator's character
	number   uint64 // of 'n'
	register string // of 'r'
}

// Errors of expressions that cannot be computed.
var (
	// ErrUndefined says that the value is lost: the expression is ".undef".
	ErrUndefined = errors.New("the value is undefined")
	// ErrNotKnown says that the expression needs a register whose value is not known.
	ErrNotKnown = errors.New("a register's value is not known")
	// ErrZero says that the expression divides, or aligns, by zero.
	ErrZero = errors.New("division by zero")
)

// undef is the expression of a register whose value is lost.
const undef = ".undef"

// ParseRules compiles the rules of a [StackCFIInit] or [StackCFI]. A malformed rule makes all of
// them malformed: a frame whose other registers are right would be wrong without a word. An
// expression must leave one value. Breakpad's evaluator takes assignments ("=") in them, which no
// compiler's tables give; they are an error here, as in rust-minidump.
func ParseRules(s string) ([]Rule, error) {
	var rules []Rule
	var tokens []string
	name := ""
	end := func() error {
		if name == "" {
			if len(tokens) > 0 {
				return fmt.Errorf("%.32q before the first register", tokens[0])
			}
			return nil
		}
		e, err := compile(tokens)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rules = append(rules, Rule{name, e})
		return nil
	}
	for token := range strings.FieldsSeq(s) {
		next, isName := strings.CutSuffix(token, ":")
		if !isName {
			tokens = append(tokens, token)
			continue
		}
		if next == "" {
			return nil, errors.New("a register without a name")
		}
		if err := end(); err != nil {
			return nil, err
		}
		name, tokens = next, tokens[:0]
	}
	if err := end(); err != nil {
		return nil, err
	}
	return rules, nil
}

// compile makes an expression of its tokens.
func compile(tokens []string) (Expr, error) {
	if len(tokens) == 1 && tokens[0] == undef {
		return Expr{}, nil
	}
	var e Expr
	depth := 0
	if len(tokens) > maxProgram {
		return Expr{}, errLongProgram
	}
	for _, token := range tokens {
		op, needs, err := parseToken(token)
		if err != nil {
			return Expr{}, err
		}
		if depth < needs {
			return Expr{}, fmt.Errorf("%q lacks an operand", token)
		}
		if depth++; needs > 0 {
			depth -= needs
		}
		e.depth = max(e.depth, depth)
		e.ops = append(e.ops, op)
	}
	if depth != 1 {
		return Expr{}, fmt.Errorf("%d values are left, want 1", depth)
	}
	return e, nil
}

// parseNumber reads a decimal number of at most 64 bits, with a sign or without.
func parseNumber(s string) (uint64, error) {
	if s[0] == '-' {
		n, err := strconv.ParseInt(s, 10, 64)
		return uint64(n), err
	}
	return strconv.ParseUint(s, 10, 64)
}

// Undefined reports whether e says that the value is lost (".undef").
func (e Expr) Undefined() bool { return len(e.ops) == 0 }

// Saved returns the expression of the address at which the value is saved, if e ends in a
// dereference: "where", and not "what". ok is false if e computes the value itself.
func (e Expr) Saved() (address Expr, ok bool) {
	if n := len(e.ops); n > 0 && e.ops[n-1].code == '^' {
		return Expr{e.ops[:n-1], e.depth}, true
	}
	return Expr{}, false
}

// Linear returns register and offset if e is a register's value plus a constant number, the form of
// nearly all rules: ".cfa -16 +", "$rsp 8 +", "$rbp". ok is false for any other expression.
func (e Expr) Linear() (register string, offset int64, ok bool) {
	if len(e.ops) == 0 || len(e.ops)%2 == 0 || e.ops[0].code != 'r' {
		return "", 0, false
	}
	var sum uint64
	for i := 1; i < len(e.ops); i += 2 {
		number, op := e.ops[i], e.ops[i+1]
		switch {
		case number.code != 'n':
			return "", 0, false
		case op.code == '+':
			sum += number.number
		case op.code == '-':
			sum -= number.number
		default:
			return "", 0, false
		}
	}
	return e.ops[0].register, int64(sum), true
}

// Registers yields the names of the registers that the expression reads; a name comes as often as
// the expression reads it.
func (e Expr) Registers(yield func(string) bool) {
	for _, op := range e.ops {
		if op.code == 'r' && !yield(op.register) {
			return
		}
	}
}

// Env is what an expression reads: the registers of THIS, the CFA by its name, and memory.
type Env interface {
	// Register returns the value of a register by its name; ok is false if it is not known.
	Register(name string) (v uint64, ok bool)
	// Word reads a word of the target's size.
	Word(addr uint64) (uint64, error)
}

// Eval computes the expression in words of that many bits, 32 or 64; arithmetic wraps, and is
// unsigned. The error is one of this package's, or comes from env.Word.
func (e Expr) Eval(env Env, bits uint) (uint64, error) {
	if e.Undefined() {
		return 0, ErrUndefined
	}
	mask := ^uint64(0) >> (64 - min(bits, 64))
	stack := make([]uint64, 0, e.depth)
	for _, op := range e.ops {
		top := len(stack) - 1
		switch op.code {
		case 'n':
			stack = append(stack, op.number&mask)
			continue
		case 'r':
			v, ok := env.Register(op.register)
			if !ok {
				return 0, fmt.Errorf("%s: %w", op.register, ErrNotKnown)
			}
			stack = append(stack, v&mask)
			continue
		case '^':
			v, err := env.Word(stack[top])
			if err != nil {
				return 0, err
			}
			stack[top] = v & mask
			continue
		}
		v, err := compute(op.code, stack[top-1], stack[top])
		if err != nil {
			return 0, err
		}
		stack = stack[:top]
		stack[top-1] = v & mask
	}
	return stack[0], nil
}

// compute computes x op y. "@" makes x a multiple of y, which is a power of two.
func compute(op byte, x, y uint64) (uint64, error) {
	switch op {
	case '+':
		return x + y, nil
	case '-':
		return x - y, nil
	case '*':
		return x * y, nil
	}
	if y == 0 {
		return 0, ErrZero
	}
	switch op {
	case '/':
		return x / y, nil
	case '%':
		return x % y, nil
	}
	return x &^ (y - 1), nil
}

// String returns the expression as it is written in a symbol file.
func (e Expr) String() string {
	if e.Undefined() {
		return undef
	}
	var b strings.Builder
	for i, op := range e.ops {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch op.code {
		case 'n':
			b.WriteString(strconv.FormatInt(int64(op.number), 10))
		case 'r':
			b.WriteString(op.register)
		default:
			b.WriteByte(op.code)
		}
	}
	return b.String()
}
