package symbol

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ianlancetaylor/demangle"
)

// A hostile name can take as long to demangle as its author likes. The time grows with the square
// of the name's length. Expansions of packs of template arguments make it grow with a higher power
// of the length, the higher the deeper functions nest. So the cost of a name is estimated from its
// text. Most names cost next to nothing. What the others take longer than usual names of their
// length, up to the estimate, is taken from a budget that all names share. When the budget is
// spent, a goroutine demangles the name, and the caller does not wait long for it. A name that
// takes too long, or may take too much memory, is shown as it is.
const (
	maxMangled = 1 << 16 // bytes of a name; template-heavy C++ stays well below
	maxSteps   = 2 << 20 // steps that a name may cost; a step takes up to some 100 bytes
	step       = time.Microsecond
	cheap      = 20                    // steps
	maxBefore  = 50_000                // steps of a name that is demangled before it is known how long that takes
	usual      = 100 * time.Nanosecond // for a byte of a name
	maxCosts   = time.Second
	maxWait    = time.Second // for one name, and twice as long for all
)

// demangled names are at most 2^16 bytes long: mangling compresses.
var maxDemangled = demangle.MaxLength(16)

// budget is an amount of time that may be spent. It grows back, for programs that run for a long
// time.
type budget struct {
	mu   sync.Mutex
	full time.Duration
	used time.Duration
	at   time.Time
}

// clock tells the time. Tests replace it.
var clock = time.Now

// left returns the time that may be spent. The caller holds b.mu.
func (b *budget) left() time.Duration {
	now := clock()
	if !b.at.IsZero() {
		b.used = max(0, b.used-now.Sub(b.at)/8)
	}
	b.at = now
	return b.full - b.used
}

// spend takes d, and reports whether as much was left; if not, it takes nothing.
func (b *budget) spend(d time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d > b.left() {
		return false
	}
	b.used += d
	return true
}

// any reports whether anything is left.
func (b *budget) any() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left() > 0
}

// half reports whether half of the budget is left.
func (b *budget) half() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left() >= b.full/2
}

var (
	costs  = budget{full: maxCosts}    // estimated costs of names
	waits  = budget{full: 2 * maxWait} // time spent waiting for names
	watch  sync.Mutex                  // held while a name is waited for
	astray atomic.Bool                 // a name is being demangled, perhaps one that took too long
)

// charge takes d, or what is left if that is less.
func (b *budget) charge(d time.Duration) {
	b.mu.Lock()
	b.used = min(b.full, b.used+d)
	b.mu.Unlock()
}

// affordably returns demangle(), the readable form of name. If that would cost too much, or has
// cost too much, it returns name itself.
func affordably(name string, demangle func() string) string {
	if len(name) > maxMangled {
		return name
	}
	may := demangle
	demangle = func() string { return unbroken(name, may) }
	steps := stepsOf(name)
	switch {
	case steps > maxSteps:
		return name
	case steps <= cheap:
		return demangle()
	case steps <= maxBefore && costs.any():
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		begun := threadTime()
		readable := demangle()
		took := threadTime() - begun - time.Duration(len(name))*usual
		costs.charge(min(max(took, 0), time.Duration(steps)*step))
		return readable
	case costs.spend(time.Duration(steps) * step):
		return demangle()
	}
	watch.Lock()
	defer watch.Unlock()
	if astray.Load() || !waits.half() {
		return name
	}
	begun, done := time.Now(), make(chan string, 1)
	astray.Store(true)
	go func() {
		readable := demangle()
		astray.Store(false)
		done <- readable
	}()
	late := time.NewTimer(maxWait)
	defer late.Stop()
	select {
	case readable := <-done:
		waits.charge(time.Since(begun))
		return readable
	case <-late.C:
		waits.charge(maxWait)
		return name
	}
}

// unbroken returns demangle(), or name if that panics: the library does so for some names that no
// compiler has mangled.
func unbroken(name string, demangle func() string) (readable string) {
	defer func() {
		if recover() != nil {
			readable = name
		}
	}()
	return demangle()
}

// stepsOf estimates how many steps it takes to demangle a name of the Itanium C++ ABI or of Rust.
// References in Rust's names cost no more than the text that they print.
func stepsOf(name string) int {
	signs, expansions, scopes, refers := 0, 0, 0, 0
	for i := 0; i < len(name); {
		if n := identifier(name, i); n > 0 {
			i += n
			signs++
			continue
		}
		if i+1 < len(name) {
			switch name[i : i+2] {
			case "Dp", "sp", "sZ", "sP", "fl", "fr", "fL", "fR":
				expansions++
			}
		}
		switch name[i] {
		case 'Z':
			if !isCount(name, i) && !isPlainCall(name, i) {
				scopes++
			}
		case 'S', 'B':
			refers++
		}
		signs++
		i++
	}
	steps := signs * signs / 100
	if refers > 16 { // maxDemangled bounds the text that they print
		steps += 1 << 10
	}
	if expansions > 0 {
		most := expansions * (signs*signs/4 + 1)
		for range min(max(scopes-1, 0), expansions-1) {
			if most *= signs/(scopes+1) + 1; most > maxSteps {
				break
			}
		}
		steps += most
	}
	return steps
}

// isCount reports whether the Z at i is the one of sZ, the count of a pack's elements, and not the
// beginning of a function behind a short, s.
func isCount(name string, i int) bool {
	if i < 1 || i+2 >= len(name) || name[i-1] != 's' {
		return false
	}
	a, b := name[i+1], name[i+2]
	return a == 'T' && (b == '_' || b >= '0' && b <= '9') || a == 'f' && (b == 'p' || b == 'L')
}

// isPlainCall reports whether the Z at i begins a function within an expression, L_Z, as gcc writes
// std::declval<Executor>(): its template arguments have no packs that are expanded, and none that
// are arguments of what is around it. So such a function does not multiply what others cost. The
// arguments are read as far as they are names and types that need no expression.
func isPlainCall(name string, i int) bool {
	if i < 2 || name[i-2:i] != "L_" {
		return false
	}
	at := i + 1
	if strings.HasPrefix(name[at:], "St") {
		at += len("St")
	}
	n := counted(name, at)
	if at += n; n == 0 || at == len(name) || name[at] != 'I' {
		return false
	}
	for depth := 0; at < len(name); {
		if n := counted(name, at); n > 0 {
			at += n
			continue
		}
		switch c := name[at]; {
		case c == 'I', c == 'J', c == 'N', c == 'F', c == 'L':
			depth++
		case c == 'E':
			if depth--; depth == 0 {
				return true
			}
		case c == 'S':
			at += substitution(name[at:])
			continue
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == 'K', c == 'P', c == 'R', c == 'O', c == 'V':
		default:
			return false
		}
		at++
	}
	return false
}

// substitution returns the length of the substitution at the beginning of a text, such as St or
// S1A_.
func substitution(text string) int {
	n := 1
	for n < len(text) && (text[n] >= '0' && text[n] <= '9' || text[n] >= 'A' && text[n] <= 'Z') {
		n++
	}
	return min(n+1, len(text))
}

// identifier returns the length of the identifier at i, with the number before it; 0 if there is
// none. Numbers behind C, D, F and _ are no lengths of identifiers.
func identifier(name string, i int) int {
	if i > 0 {
		switch name[i-1] {
		case 'C', 'D', 'F', '_':
			return 0
		}
		if i > 1 && name[i-2:i] == "CI" {
			return 0
		}
	}
	return counted(name, i)
}

// counted returns the length of a number at i and of as many bytes behind it; 0 if there is none.
// Numbers before _ and E count no bytes.
func counted(name string, i int) int {
	at, n := i, 0
	for at < len(name) && name[at] >= '0' && name[at] <= '9' && n < maxMangled {
		n, at = 10*n+int(name[at]-'0'), at+1
	}
	if n == 0 || n > len(name)-at || name[at] == '_' || name[at] == 'E' {
		return 0
	}
	return at + n - i
}
