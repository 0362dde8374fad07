// Package printable shows text that others have chosen (names in a target and its files, what
// plug-ins and stubs say) so that it steers no terminal and adds no line.
//
// What enters is any text. What leaves has each character that is none to be seen written as an
// escape: \n, \t, \r or \x1b for a control character, \xff for a byte that is not UTF-8, and
// \u009b for all others: C1, DEL, those that change the direction of text, separators of lines.
// In a JSON document, where encoding/json leaves the latter as they are, the escape is the same
// string to whoever parses it.
//
// It happens twice. [Fprintf] escapes what a message is about, its newlines too. [Writer], through
// which all that a command writes goes, escapes what was forgotten; it leaves newlines, for they
// are the layout, and the colours that it was told of.
package printable
