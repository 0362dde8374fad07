// Package report puts what was measured into tables, prints them, and keeps them in
// docs/performance.md, whose other text it leaves alone.
//
// A part of the bench hands in a Section; one line of the document's first table for
// each Goal in it.
package report
