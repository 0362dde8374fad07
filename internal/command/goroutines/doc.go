// Package goroutines lists the goroutines of a target, as threads whose stacks are walked, and says
// what each does and waits for. A live process is held while they are listed, and their stacks are
// copied.
package goroutines
