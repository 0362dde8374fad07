// Package report formats measurements as tables, prints them, and keeps them in
// docs/performance.md, whose other text it leaves alone.
//
// A part of the bench passes a Section. Each Goal in it becomes a line of the document's first
// table.
package report
