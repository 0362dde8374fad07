// Package picture draws many stacks as one picture, in the formats that other programs show.
//
// Stacks enter with counts: [Stacks.Add] takes the frames of one stack and how often it was found,
// or whatever was counted. [Stacks.Write] writes a profile for go tool pprof, folded stacks for
// flamegraph.pl, a document for speedscope, the Firefox Profiler or programs (JSON), or a flame
// graph that a browser shows; [Formats] has them all. [NewTree] merges the stacks into one tree,
// outermost frames first.
//
// The package knows nothing of processes: a frame is a name, and an address in a mapped file where
// that is known. The names may come from anywhere; each format has them escaped as it needs, and no
// text steers a terminal.
package picture
