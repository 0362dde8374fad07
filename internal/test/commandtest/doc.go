// Package commandtest has what the tests of the command's verbs share: to run sfwalk in the test's
// process or as a program, targets for it, and what other tools say of these.
package commandtest
