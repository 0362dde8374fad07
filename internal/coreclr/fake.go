package coreclr

// Fake returns a run time of .NET 8, for tests of who reads its structures: variables is where the
// list of the addresses of its variables is, store where its list of threads is.
func Fake(variables, store uint64) *Runtime {
	return &Runtime{Layout: *eight(), variables: variables, store: store}
}
