package symbol

import "strings"

// keepsParameters reports whether GDB's backtrace prints a C++ function with its parameters. GDB
// means to leave them out everywhere, but has to parse the name for that. It prints a name that it
// cannot parse as it is. Such names have lambdas, classes without a name, types of functions as
// template arguments ("std::function<void (int)>"), empty lists of template arguments, ABI tags or
// reference qualifiers. The name of something local to a function contains the function's
// parameters, and keeps its own.
func keepsParameters(full string) bool {
	return unparsed(full) || strings.HasSuffix(full, ") &") || strings.HasSuffix(full, ") const &") || strings.HasSuffix(full, "&&")
}

// unparsed reports whether GDB cannot parse a name of C++.
func unparsed(full string) bool {
	for _, mark := range [...]string{"{", "::<", "<lambda", "<unnamed", "(unnamed ", "<>", "[abi:", "decltype", "(*&&)", "operator<=>", `operator""`, "__int128 unsigned", "unsigned __int128", "_Complex", "__complex__"} {
		if strings.Contains(full, mark) {
			return true
		}
	}
	return hasComplex(full) || hasFunctionType(full)
}

// hasComplex reports whether name has a complex number as gcc's debug information calls it,
// "complex double", among its template arguments or parameters.
func hasComplex(name string) bool {
	for {
		i := strings.Index(name, "complex ")
		if i < 0 {
			return false
		}
		before := name[:i]
		name = name[i+len("complex "):]
		if before != "" && strings.IndexByte("(<, ", before[len(before)-1]) < 0 {
			continue
		}
		for _, part := range [...]string{"double", "float", "int", "long", "short", "char", "unsigned", "signed", "_Float"} {
			if strings.HasPrefix(name, part) {
				return true
			}
		}
	}
}

// hasFunctionType reports whether name has the type of a function among its template arguments or
// parameters, or is in the scope of a function. Types of pointers to functions do not count.
func hasFunctionType(name string) bool {
	const anonymous = "(anonymous namespace)"
	var open []byte // brackets, outer first
	listed := false // the function's own list of parameters has begun
	for i := 0; i < len(name); i++ {
		switch c := name[i]; c {
		case '<':
			if !isOperator(name[:i]) {
				open = append(open, c)
			}
		case '>':
			if len(open) > 0 && open[len(open)-1] == '<' && !isOperator(name[:i]) && name[i-1] != '-' {
				open = open[:len(open)-1]
			}
		case '(':
			if strings.HasPrefix(name[i:], anonymous) {
				i += len(anonymous) - 1
				continue
			}
			if strings.HasSuffix(name[:i], "operator") && strings.HasPrefix(name[i:], "()") {
				i++
				continue
			}
			before := strings.TrimRight(name[:i], " ")
			switch {
			case before == "" || strings.HasSuffix(before, ")") || strings.ContainsAny(before[len(before)-1:], "<,("): // of a pointer to a function; a cast
			case name[i+1:] != "" && (name[i+1] == '*' || name[i+1] == '&') || isMemberPointer(name[i+1:]):
			case !listed && len(open) == 0:
				listed = true
			default:
				return true
			}
			open = append(open, c)
		case ')':
			for len(open) > 0 && open[len(open)-1] != '(' {
				open = open[:len(open)-1]
			}
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			if strings.HasPrefix(name[i+1:], "::") || strings.HasPrefix(name[i+1:], " const::") {
				return true
			}
		}
	}
	return false
}

// isOperator reports whether a bracket behind before belongs to the name of an operator.
func isOperator(before string) bool {
	before = strings.TrimRight(before, "<>-")
	return strings.HasSuffix(before, "operator")
}

// isMemberPointer reports whether rest, which follows a parenthesis, begins with "Class::*".
func isMemberPointer(rest string) bool {
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '<', '(':
			depth++
		case '>':
			depth--
		case ')', ',':
			if depth == 0 {
				return false
			}
			if rest[i] == ')' {
				depth--
			}
		case '*':
			if depth == 0 {
				return strings.HasSuffix(rest[:i], "::")
			}
		}
	}
	return false
}
