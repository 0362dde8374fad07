// Package expression reads expressions as C has them, as far as people call functions with them:
//
//	(double) pow(2.0, -10)
//	setenv("LANG", "C", 1)
//	qsort(buffer, 3, sizes[0], &compare)
//
// Text goes in, a tree of [Node] comes out. Nothing is looked up: names are names. Errors point at the
// character.
package expression
