package symbol

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ianlancetaylor/demangle"
)

// Demangling can take as long as whoever made a name likes: time that grows with the square of a
// name's length, and with a power of the length where packs of template arguments are expanded,
// the higher the more functions are within one another. So a name's text tells what it may cost.
// Most cost next to nothing. What the others cost comes off what all names may cost; when that is
// spent, they are demangled by somebody who is not waited for long. What takes too long, or may
// take too much memory, is shown as it is.
const (
	maxMangled = 1 << 16 // bytes of a name; template-heavy C++ stays well below
	maxSteps   = 2 << 20 // that a name may cost; one takes up to some 100 bytes
	step       = time.Microsecond
	cheap      = 20 // steps
	maxCosts   = time.Second
	maxWait    = time.Second // for one name, and twice as long for all
)

// demangled names are at most 2^16 bytes long: mangling compresses.
var maxDemangled = demangle.MaxLength(16)

// budget is time that may be spent. It grows back, for programs that go on for long.
type budget struct {
	mu   sync.Mutex
	full time.Duration
	used time.Duration
	at   time.Time
}

// clock tells the time; tests have one of their own.
var clock = time.Now

// left returns what may be spent. The caller holds b.mu.
func (b *budget) left() time.Duration {
	now := clock()
	if !b.at.IsZero() {
		b.used = max(0, b.used-now.Sub(b.at)/8)
	}
	b.at = now
	return b.full - b.used
}

// spend takes d off what is left, and reports whether there was as much.
func (b *budget) spend(d time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d > b.left() {
		return false
	}
	b.used += d
	return true
}

// half reports whether half of the budget is left.
func (b *budget) half() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left() >= b.full/2
}

var (
	costs  = budget{full: maxCosts}    // as names' texts tell
	waits  = budget{full: 2 * maxWait} // as it took
	watch  sync.Mutex                  // held while one name is waited for
	astray atomic.Bool                 // one took too long, and goes on
)

// charge takes d off what is left, or all that is.
func (b *budget) charge(d time.Duration) {
	b.mu.Lock()
	b.used = min(b.full, b.used+d)
	b.mu.Unlock()
}

// affordably returns what demangle makes of a name, or the name itself where that may cost, or
// has cost, too much.
func affordably(name string, demangle func() string) string {
	if len(name) > maxMangled {
		return name
	}
	steps := stepsOf(name)
	switch {
	case steps > maxSteps:
		return name
	case steps <= cheap || costs.spend(time.Duration(steps)*step):
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

// stepsOf returns about how many steps it may take to demangle a name, by the Itanium C++ ABI, or
// Rust's, whose references cost no more than what they print.
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
			scopes++
		case 'S', 'B':
			refers++
		}
		signs++
		i++
	}
	steps := signs * signs / 100
	if refers > 16 { // what they print is bounded, maxDemangled
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

// identifier returns the length of an identifier with the number before it, 0 where there may be
// none at i: numbers elsewhere stand behind C, D, F and _, or before _ and E.
func identifier(name string, i int) int {
	at, n := i, 0
	for at < len(name) && name[at] >= '0' && name[at] <= '9' && n < maxMangled {
		n, at = 10*n+int(name[at]-'0'), at+1
	}
	if n == 0 || n > len(name)-at || name[at] == '_' || name[at] == 'E' {
		return 0
	}
	if i > 0 {
		switch name[i-1] {
		case 'C', 'D', 'F', '_':
			return 0
		}
		if i > 1 && name[i-2:i] == "CI" {
			return 0
		}
	}
	return at + n - i
}
