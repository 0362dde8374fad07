// Package calls has threads that are held evaluate expressions which run functions of the process:
// for the verb call and remote --call, which print the values, and for --print of attach and
// remote.
package calls
