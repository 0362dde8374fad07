// Package external is the host of third-party sniffers. It starts them as programs, asks them over
// hashicorp/go-plugin, and checks all that they say.
//
// [Start] starts the program at a path. [Plugin.Sniffer] returns a [frame.Sniffer] for one process,
// which also has the plug-in's names for code ([Sniffer.Symbol]). It keeps rows by the range of PCs
// that they hold for, and the ranges that the plug-in never claims. So it asks about each range
// once.
//
// A plug-in that crashes, hangs or answers nonsense costs one declined frame: the host puts it out
// of use, [Plugin.Err] says why, and the other sniffers go on.
//
// On Linux the host starts its own program (/proc/self/exe) once more for each plug-in: that
// process ends the plug-in when the host ends (see internal/subprocess). The only code of the host
// that runs there is init functions of packages that are initialized earlier.
package external
