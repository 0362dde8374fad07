// Package printers has the usual printers of values, in their order: it knows all rooms that show
// what the users of a library or a language know otherwise than as structs. Each is a package of
// its own below package value.
//
// They are libstdc++, libc++ (C++'s libraries), rust (Rust's) and go. Values of Ada, Fortran and
// Rust, and Go's raw ones, are written as GDB does in these languages.
package printers

import (
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/ada"
	"github.com/sfwalk/sfwalk/value/internal/fortran"
	"github.com/sfwalk/sfwalk/value/internal/golang"
	"github.com/sfwalk/sfwalk/value/internal/libcxx"
	"github.com/sfwalk/sfwalk/value/internal/libstdcxx"
	"github.com/sfwalk/sfwalk/value/internal/rust"
)

// All returns the usual printers. To show types of your own, put a [value.PrettyPrinter] before
// them, or behind them:
//
//	known := printers.All()
//	known.Pretty = append([]value.PrettyPrinter{mine}, known.Pretty...)
func All() value.Printers {
	return value.Printers{
		Pretty: []value.PrettyPrinter{
			libstdcxx.Printer{},
			libcxx.Printer{},
			rust.Printer{},
			golang.Printer{},
		},
		Languages: map[string]func(w *value.Writer, v *value.Value) bool{
			"ada":     ada.Write,
			"fortran": fortran.Write,
			"go":      golang.Raw,
			"rust":    rust.Write,
		},
	}
}
