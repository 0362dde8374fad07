// Package printable shows text that others have chosen (names in a target and its files, messages
// of plug-ins and stubs) so that it steers no terminal and adds no line.
//
// In goes any text. Out comes the text with an escape for each invisible character: \n, \t, \r or
// \x1b for a control character, \xff for a byte that is not UTF-8, and \u009b for all others: C1,
// DEL, characters that change the direction of text, separators of lines. encoding/json leaves C1,
// DEL and these characters as they are: in a JSON document, a parser reads the escape as the same
// string.
//
// Text is escaped twice. [Fprintf] escapes the arguments of a message, their newlines too.
// [Writer], through which a command writes everything, escapes what was forgotten. It leaves
// newlines, for they are the layout, and the colours that it was told to allow.
package printable
