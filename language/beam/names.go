package beam

import (
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/sfwalk/sfwalk/internal/erts"
	"github.com/sfwalk/sfwalk/language"
)

// names are texts by atoms, which do not change.
type names struct {
	mu        sync.Mutex
	functions map[mfa]string
	atoms     map[uint64]string
}

// mfa is a module, a function and its arity, as the run time system has them.
type mfa struct{ module, function, arity uint64 }

// mostTexts bounds what is kept of each.
const mostTexts = 1 << 16

// atom returns the name of an atom; ok is false if it is none.
func (r *reader) atom(term uint64) (string, bool) {
	n := &r.names
	n.mu.Lock()
	text, ok := n.atoms[term]
	n.mu.Unlock()
	if ok {
		return text, true
	}
	if text, ok = r.Atom(r.Reader, term); !ok {
		return "", false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.atoms == nil || len(n.atoms) >= mostTexts {
		n.atoms = map[uint64]string{}
	}
	n.atoms[term] = text
	return text, true
}

// mfaAt reads a module, a function and its arity.
func (r *reader) mfaAt(at uint64) mfa {
	return mfa{r.Pointer(at), r.Pointer(at + 8), r.Pointer(at + 16)}
}

// function returns the name of a function, "" if there is none.
func (r *reader) function(f mfa) string {
	n := &r.names
	n.mu.Lock()
	text, ok := n.functions[f]
	n.mu.Unlock()
	if ok {
		return text
	}
	module, ok := r.atom(f.module)
	function, ok2 := r.atom(f.function)
	if !ok || !ok2 || f.arity > mostArity {
		return ""
	}
	text = functionName(module, function, int(f.arity))
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.functions == nil || len(n.functions) >= mostTexts {
		n.functions = map[mfa]string{}
	}
	n.functions[f] = text
	return text
}

const mostArity = 255

// functionName writes a function as Erlang's traces do, and one of an Elixir module as Elixir's do.
func functionName(module, function string, arity int) string {
	if elixir, ok := strings.CutPrefix(module, "Elixir."); ok {
		if of, ok := anonymous(function); ok {
			return "anonymous fn/" + strconv.Itoa(arity) + " in " + elixir + "." + of
		}
		return elixir + "." + elixirName(function) + "/" + strconv.Itoa(arity)
	}
	return quoted(module) + ":" + quoted(function) + "/" + strconv.Itoa(arity)
}

// anonymous returns the function in which an anonymous function stands, from a name such as
// "-map/2-fun-0-".
func anonymous(function string) (of string, ok bool) {
	rest, ok := strings.CutPrefix(function, "-")
	if !ok {
		return "", false
	}
	i := strings.LastIndex(rest, "-fun-")
	if i < 0 {
		return "", false
	}
	of = rest[:i]
	slash := strings.LastIndex(of, "/")
	if slash < 0 {
		return "", false
	}
	return elixirName(of[:slash]) + of[slash:], true
}

// elixirName quotes a function's name where Elixir does.
func elixirName(name string) string {
	plain := name != ""
	for i, c := range name {
		last := i == len(name)-1
		plain = plain && (c == '_' || unicode.IsLetter(c) && (i > 0 || !unicode.IsUpper(c)) || unicode.IsDigit(c) && i > 0 || (c == '?' || c == '!') && last && i > 0)
	}
	if plain || operators[name] {
		return name
	}
	return strconv.Quote(name)
}

// operators are functions of Elixir that need no quotes.
var operators = words("! && *** * ** + ++ +++ - -- --- .. ... / < <- << <<< <<~ <= <> <|> <~ <~> =~ == === > >= >>> @ ^ ^^^ and in not or | || ||| |> ~> ~>> ~~~ != !== &&&")

// quoted quotes an atom where Erlang does.
func quoted(atom string) string {
	plain := atom != "" && !reserved[atom]
	for i, c := range atom {
		if i == 0 {
			plain = plain && (c >= 'a' && c <= 'z' || c >= 'ß' && c <= 'ÿ' && c != '÷')
			continue
		}
		plain = plain && (c == '_' || c == '@' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 'À' && c <= 'ÿ' && c != '×' && c != '÷')
	}
	if plain {
		return atom
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(atom) + "'"
}

// reserved are the words of Erlang that are atoms in quotes only.
var reserved = words("after and andalso band begin bnot bor bsl bsr bxor case catch cond div else end fun if let maybe not of or orelse receive rem try when xor")

func words(text string) map[string]bool {
	list := map[string]bool{}
	for _, w := range strings.Fields(text) {
		list[w] = true
	}
	return list
}

// frameAt returns the frame of a function that has an address in its code; ok is false if none has.
func (r *reader) frameAt(pc uint64) (f language.Frame, ok bool) {
	x, ok := r.code.Function(pc)
	if !ok {
		return f, false
	}
	name := r.function(r.mfaAt(x.Info + r.Of("function.module")))
	if name == "" {
		return f, false
	}
	f.Function = name
	f.File, f.Line = r.place(&x, pc)
	return f, true
}

// place returns the file and the line of an address; "" and 0 if the module does not tell.
func (r *reader) place(x *erts.Function, pc uint64) (file string, line int) {
	table := r.Pointer(x.Header + r.Of("code.lines"))
	if table == 0 || !r.OK() {
		return "", 0
	}
	functions := table + r.Of("lines.functions")
	first := r.Pointer(functions)
	lo, hi := r.Pointer(functions+8*x.Index), r.Pointer(functions+8*x.Index+8)
	if lo < first || hi < lo || (hi-first)/8 > mostPlaces {
		return "", 0
	}
	i, end := (lo-first)/8, (hi-first)/8
	if hi == lo {
		return "", 0
	}
	for i < end {
		mid := i + (end-i)/2
		if r.Pointer(first+8*mid) <= pc {
			i = mid + 1
		} else {
			end = mid
		}
	}
	if i == (lo-first)/8 {
		return "", 0 // before the first line
	}
	size := int(r.Uint(table+r.Of("lines.size"), 4))
	if size != 2 && size != 4 {
		return "", 0
	}
	at := r.Uint(r.Pointer(table+r.Of("lines.places"))+(i-1)*uint64(size), size)
	const lineBits = 24
	if line = int(at & (1<<lineBits - 1)); line == 0 || !r.OK() {
		return "", 0
	}
	return r.fileName(r.Pointer(r.Pointer(table+r.Of("lines.files")) + 8*(at>>lineBits))), line
}

const (
	mostPlaces   = 1 << 24 // of a module
	mostFileName = 4 << 10 // characters
)

// fileName reads a list of characters.
func (r *reader) fileName(term uint64) string {
	const tagMask, tagList, smallMask, tagSmall, smallShift = 3, 1, 0xf, 0xf, 4
	if text, ok := r.files[term]; ok {
		return text
	}
	var b strings.Builder
	list := term
	for n := 0; term&tagMask == tagList && n < mostFileName && r.OK() && r.spend(1); n++ {
		cell := term &^ 7
		c := r.Pointer(cell)
		if c&smallMask != tagSmall || c>>smallShift > unicode.MaxRune {
			return ""
		}
		b.WriteRune(rune(c >> smallShift))
		term = r.Pointer(cell + 8)
	}
	if !r.OK() || r.left < 0 {
		return ""
	}
	r.files[list] = b.String()
	return b.String()
}
