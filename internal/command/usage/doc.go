// Package usage prints the help of commands: the usage line on top, the flags of every day,
// examples, and the other flags by groups. A command goes in; [Set] has it and all below print
// their help so.
package usage
