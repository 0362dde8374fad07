// Package coreclr reads what .NET's run time (CoreCLR) knows of its code: which memory has code
// that it has compiled, or that assemblies bring along (ReadyToRun); where a method begins; what
// unwinds it; and the record of the method (MethodDesc). It reads objects, too: which there are
// in the garbage collector's heap, their types (MethodTable) and fields; and the threads' records.
//
// From .NET 10 on the run time describes its structures to debuggers
// (DotNetRuntimeContractDescriptor, docs/design/datacontracts of its sources). .NET 9 describes
// some of them, .NET 8 none: then layouts by release are taken, and checked against the process.
// The run time's other export, g_dacTable, has the addresses of its variables.
package coreclr
