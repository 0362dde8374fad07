// Package decorators has the languages that are decorated if nobody says otherwise, in their order.
package decorators

import (
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/async/cpp"
	"github.com/sfwalk/sfwalk/language/async/fibers"
	"github.com/sfwalk/sfwalk/language/async/rust"
	"github.com/sfwalk/sfwalk/language/bash"
	"github.com/sfwalk/sfwalk/language/beam"
	"github.com/sfwalk/sfwalk/language/dotnet"
	"github.com/sfwalk/sfwalk/language/guile"
	"github.com/sfwalk/sfwalk/language/java"
	"github.com/sfwalk/sfwalk/language/lua"
	"github.com/sfwalk/sfwalk/language/luajit"
	"github.com/sfwalk/sfwalk/language/mono"
	"github.com/sfwalk/sfwalk/language/perl"
	"github.com/sfwalk/sfwalk/language/php"
	"github.com/sfwalk/sfwalk/language/pypy"
	"github.com/sfwalk/sfwalk/language/python"
	"github.com/sfwalk/sfwalk/language/r"
	"github.com/sfwalk/sfwalk/language/racket"
	"github.com/sfwalk/sfwalk/language/ruby"
	"github.com/sfwalk/sfwalk/language/sbcl"
	"github.com/sfwalk/sfwalk/language/tcl"
	"github.com/sfwalk/sfwalk/language/v8"
)

// Usual returns them.
func Usual() []language.Decorator {
	return []language.Decorator{python.Decorator{}, java.Decorator{}, php.Decorator{}, perl.Decorator{}, ruby.Decorator{}, v8.Decorator{}, rust.Decorator{}, cpp.Decorator{}, fibers.Decorator{}, lua.Decorator{}, luajit.Decorator{}, dotnet.Decorator{}, mono.Decorator{}, beam.Decorator{}, bash.Decorator{}, sbcl.Decorator{}, r.Decorator{}, tcl.Decorator{}, pypy.Decorator{}, guile.Decorator{}, racket.Decorator{}}
}
