// Package manpage writes the manual pages of a program's commands, in the macros of man(7).
//
// Commands go in, with their texts and flags; one page for each comes out. The texts are taken as
// the terminal shows them, not as Markdown, which would eat their stars and angle brackets. The
// program internal/manpage/generate writes sfwalk's pages; sfwalk itself does not link this.
package manpage
