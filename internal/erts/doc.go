// Package erts finds Erlang's run time system, BEAM, in a process, and its code: the functions of
// loaded modules, and the code that they share.
//
// The run time system exports its release, and the variables where its tables begin; the layouts of
// its structures are from the headers of that release (layouts/README.md). The table of modules has
// no symbol: it is found by what it holds.
package erts
