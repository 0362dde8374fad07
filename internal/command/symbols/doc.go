// Package symbols is the verb symbols: makes and checks Breakpad's symbol files.
package symbols
