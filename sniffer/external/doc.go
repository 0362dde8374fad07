// Package external is the host of third-party sniffers: programs that it starts, asks
// over hashicorp/go-plugin, and trusts in nothing.
//
// What enters are a program's path ([Start]) and a process that stacks are to be walked of
// ([Plugin.Sniffer]); what leaves is a [frame.Sniffer] like any other, and the names that the
// plug-in has for code ([Sniffer.Symbol]). Rows are kept by the range of PCs that they hold for,
// as are ranges that the plug-in does not claim, so that it is asked about once.
//
// A plug-in that crashes, hangs or answers nonsense costs a declined frame: it is put out of
// use, [Plugin.Err] says why, and the other sniffers go on.
//
// On Linux the program that imports this package is started once more for each plug-in, as the
// process that sees to the plug-in's end (/proc/self/exe; see internal/subprocess): of the program's own
// code no more than functions named init, of packages that come before, run there.
package external
