// Package plugin is what the author of a third-party sniffer imports: a sniffer as a
// program of its own, that every tool built on this framework can use without being
// rebuilt. Implement [Sniffer], call [Serve] in main:
//
//	func main() { plugin.Serve(mySniffer{}) }
//
// and try it with 'sfwalk plugin check PATH' and 'sfwalk attach --plugin PATH PID'.
// docs/writing-a-sniffer.md leads from nothing to a working plug-in.
//
// What enters are questions ([Query]: PC, registers, as much of stack and code as the
// plug-in has asked for), what leaves are rows ([Answer]) with the range of PCs that they
// hold for. The program runs where the host starts it, may be asked about several
// processes at once, and sees their memory through the host alone ([Target]): it
// cannot trace what the host traces.
package plugin
