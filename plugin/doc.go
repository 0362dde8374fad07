// Package plugin is for authors of third-party sniffers. Such a sniffer is a program of its own,
// and every tool that is built on this framework can use it without being rebuilt. Implement
// [Sniffer], and call [Serve] in main:
//
//	func main() { plugin.Serve(mySniffer{}) }
//
// and try it with 'sfwalk plugin check PATH' and 'sfwalk attach --plugin PATH PID'.
// docs/writing-a-sniffer.md leads from nothing to a working plug-in.
//
// A question ([Query]) has THIS frame's PC and registers, and as much of the stack and the code as
// the plug-in needs. An answer ([Answer]) has a row with the range of PCs that it holds for. The
// host starts the program, may ask it about several processes at once, and reads their memory for
// it ([Target]): a plug-in cannot trace a process that the host traces.
//
// A plug-in may be a [Decorator] as well, or instead: it knows the frames of a language, such as an
// interpreter's. docs/writing-a-decorator.md leads to one. [Serve] and [ServeDecorator] serve it.
package plugin
