package values

import (
	"regexp"
	"strings"
	"sync"
)

// clone matches what compilers add to the name of a function that they have copied or split.
var clone = regexp.MustCompile(`( \[clone [^\]]*\]|\.(cold|part|isra|constprop|lto_priv|llvm)(\.[0-9]+)*|@.*)+$`)

// IsCalled reports whether a user who says name means a function: by its whole name, or by the last
// components of a qualified one, with its parameters and template arguments or without. "transfer"
// and "Bank::transfer" are ns::Bank::transfer(int), "Transfer", "Bank.Transfer" and
// "(*Bank).Transfer" are main.(*Bank).Transfer, "(*List[...]).Push", as Go's own traces have it,
// and "List.Push" are main.(*List[go.shape.int]).Push, "push_back" and "vector::push_back" are
// std::vector<int>::push_back(int const&).
func IsCalled(function, name string) bool {
	if function == name {
		return name != ""
	}
	last := name[strings.LastIndexAny(name, ":.")+1:]
	if last == "" || !strings.Contains(function, last) {
		return false
	}
	if endsWith(function, name) {
		return true
	}
	whole := strings.TrimSuffix(function, " const")
	if at := clone.FindStringIndex(whole); at != nil && at[0] > 0 {
		whole = whole[:at[0]]
	}
	exact, plain := qualified(whole)
	return endsWith(whole, name) || endsWith(exact, name) || endsWith(plain, name) || endsWith(plain, withoutReceiver(name))
}

// withoutReceiver returns the name of a function of Go as qualified returns it plain, if it leaves
// the type arguments open: "List.Push" of "(*List[...]).Push".
func withoutReceiver(name string) string {
	name = strings.ReplaceAll(name, "[...]", "")
	before, receiver, ok := strings.Cut(name, "(*")
	if typ, method, is := strings.Cut(receiver, ")."); ok && is {
		return before + typ + "." + method
	}
	return name
}

// operators are C++'s, each before the ones that it begins with.
var operators = []string{
	"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "()", "[]",
	",", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "=",
}

// endsWith reports whether name is the last components of a qualified name.
func endsWith(qualified, name string) bool {
	before, ok := strings.CutSuffix(qualified, name)
	return ok && (before == "" || strings.HasSuffix(before, "::") || before[len(before)-1] == '.' || before[len(before)-1] == '/')
}

// qualified returns a function's name without its result and parameters: exact with template
// arguments, plain without them, and without the "(*" and ")" around Go's receivers.
func qualified(s string) (exact, plain string) {
	var p strings.Builder
	begin, end := 0, len(s)
	for i := 0; i < len(s); {
		rest := s[i:]
		switch {
		case strings.HasPrefix(rest, "operator") && (i == 0 || !isName(s[i-1])) && len(rest) > 8 && !isName(rest[8]):
			n := 8
			for _, symbol := range operators {
				if strings.HasPrefix(rest[8:], symbol) {
					n += len(symbol)
					break
				}
			}
			if n == 8 { // a conversion, or operator new
				if n = strings.IndexByte(rest, '('); n < 0 {
					n = len(rest)
				}
			}
			p.WriteString(rest[:n])
			i += n
			continue
		case strings.HasPrefix(rest, "(anonymous namespace)"):
			p.WriteString(rest[:len("(anonymous namespace)")])
			i += len("(anonymous namespace)")
			continue
		case strings.HasPrefix(rest, "(*") && i > 0 && s[i-1] == '.': // Go
			n := group(rest)
			if n > 3 {
				typ, _, _ := strings.Cut(rest[2:n-1], "[") // of List[int], List
				p.WriteString(typ)
			}
			i += n
			continue
		case rest[0] == '<', rest[0] == '[':
			i += group(rest)
			continue
		case strings.HasPrefix(rest, "decltype"):
			n := len("decltype")
			for n < len(rest) && rest[n] == ' ' {
				n++
			}
			i += n + group(rest[n:])
			continue
		case rest[0] == '(':
			if i > begin {
				end = i
			}
			return s[begin:end], p.String()
		case rest[0] == ' ':
			begin = i + 1
			p.Reset()
			i++
			continue
		}
		p.WriteByte(rest[0])
		i++
	}
	return s[begin:end], p.String()
}

// group returns the length of what stands in brackets at the beginning of s, all of s if they are
// not closed; at least 1.
func group(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '<', '(', '[', '{':
			depth++
		case '>':
			if i > 0 && s[i-1] == '-' {
				continue // an arrow
			}
			depth--
		case ')', ']', '}':
			depth--
		}
		if depth <= 0 {
			return i + 1
		}
	}
	return max(len(s), 1)
}

func isName(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// near are functions that may be meant by a name that none has.
type near struct {
	mu   sync.Mutex
	list []string
}

// maxNear bounds them.
const maxNear = 3

// note notes a function if its name has one of the wanted texts in it, in upper or lower case.
func (n *near) note(function string, wanted []string) {
	lower := strings.ToLower(function)
	for _, w := range wanted {
		if len(w) < 2 || !strings.Contains(lower, strings.ToLower(w)) {
			continue
		}
		n.mu.Lock()
		known := len(n.list) >= maxNear
		for _, x := range n.list {
			known = known || x == function
		}
		if !known {
			n.list = append(n.list, function)
		}
		n.mu.Unlock()
	}
}

// hint returns the question whether one of the functions is meant; "" if there is none.
func (n *near) hint() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) == 0 {
		return ""
	}
	return ": do you mean " + strings.Join(n.list, ", or ") + "?"
}
