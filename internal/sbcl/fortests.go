package sbcl

import "github.com/sfwalk/sfwalk/arch"

// ForTests returns a run time whose text space is [lo, hi), and whose packages the variable at an
// address leads to, for tests of what reads its objects.
func ForTests(lo, hi, packages uint64, a *arch.Arch) *Runtime {
	return &Runtime{Packages: packages, order: a.Order, textLo: lo, textHi: hi}
}
