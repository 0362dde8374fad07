// Package platforms lists the systems and processors that a release has programs for.
package platforms

// Live are the platforms on which sfwalk attaches to processes: they have packages and a container
// image, too.
var Live = []string{"linux/amd64", "linux/arm64", "linux/s390x"}

// Readers are the platforms on which sfwalk reads files and remote stubs. 'make cross' builds them.
var Readers = []string{"darwin/arm64", "windows/amd64"}

// All returns all of them.
func All() []string { return append(append([]string{}, Live...), Readers...) }
