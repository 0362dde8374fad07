// Package bash knows the functions of scripts that bash runs.
//
// What enters: a process, in which the package finds bash by a symbol, and then stacks. What
// leaves: functions and sourced files, each in the place of the physical frame that runs it, and
// what the shell waits for.
//
// Bash exports its variables and functions for builtins that are loaded. It keeps the call stack
// of a script in three arrays for the script itself: FUNCNAME, BASH_SOURCE and BASH_LINENO. Two of
// its own functions, which are not exported, begin a call and push onto the arrays: texts that
// these functions alone use lead to them. So each call has one physical frame, in the same order.
package bash
