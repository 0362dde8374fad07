package symbol

import (
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// Source has names and lines that are neither in a module's ELF file nor in its debug files. It
// reads files of another format, or asks a debugger. Several goroutines may call its methods at
// once.
type Source interface {
	// Open returns the table of m, nil if the source has nothing for m. A [Symbolizer] calls Open
	// once for each module, when somebody first asks for an address there. An error becomes a
	// warning of the module. A table that comes with an error is used.
	Open(m *target.Module) (Table, error)
}

// Table has the names and lines of one module. Several goroutines may call its methods at once.
type Table interface {
	// Locate returns what is at pc, a run-time address in the module, as [Symbolizer.Locate] does:
	// the inlined calls, innermost first, then the function that contains the code. It returns nil
	// if the table has nothing for pc. Names are demangled. Module need not be set.
	Locate(pc uint64) []Location
	// Warnings returns the first few errors from reading the table.
	Warnings() []error
}

// tables holds the tables that the sources of a Symbolizer have for one module.
type tables struct {
	opened   sync.Once
	elf      *elfModule
	others   []Table // of Options.Sources, in that order
	warnings []error // of opening these
}

// open asks all sources of a Symbolizer for a module.
func (t *tables) open(s *Symbolizer, m *target.Module) {
	t.elf = s.elf.open(m)
	for _, source := range s.sources {
		table, err := source.Open(m)
		if err != nil {
			t.warnings = append(t.warnings, err)
		}
		if table != nil {
			t.others = append(t.others, table)
		}
	}
}

// locate returns the best answer of the tables for an address. A function with a line is better
// than a function alone, which is better than a line alone. The first of equal answers counts.
func (t *tables) locate(pc uint64) []Location {
	best := t.elf.Locate(pc)
	for _, table := range t.others {
		if worth(best) == wholeAnswer {
			break
		}
		if chain := table.Locate(pc); worth(chain) > worth(best) {
			best = slices.Clone(chain)
		}
	}
	return t.nameByStart(pc, best)
}

const wholeAnswer = 3

// worth rates a chain: 2 for a function, plus 1 for a line.
func worth(chain []Location) (n int) {
	if len(chain) == 0 {
		return 0
	}
	if chain[len(chain)-1].Function != "" {
		n = 2
	}
	if chain[0].Line > 0 {
		n++
	}
	return n
}
