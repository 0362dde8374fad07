// Package pace has when the command collects its garbage and how large its stacks begin: a command
// runs for some milliseconds, and Go's usual pace is one for servers.
package pace
