// Package dotnet decorates stacks of .NET's run time (CoreCLR): which methods run, and on which
// source lines. It tells what threads are called and wait for, and lists the async methods that
// wait, which are in the heap.
//
// Each physical frame of managed code is one method, which package coreclr finds. The method's
// names are in the metadata of its assembly, which the process has mapped; its lines in a portable
// PDB, inside the assembly or beside it. What the compiler has inlined is not recorded: .NET's own
// traces leave these methods out, too.
package dotnet
