// Package expression reads expressions as C and C++ have them, as far as people call functions and
// look at values with them:
//
//	(double) pow(2.0, -10)
//	setenv("LANG", "C", 1)
//	qsort(buffer, 3, sizes[0], &compare)
//	(struct request *) list->head + 1 == 0 || *req->url@4 != 'x'
//
// Text goes in, a tree of [Node] comes out. Nothing is looked up: names are names. Errors point at
// the character.
package expression
