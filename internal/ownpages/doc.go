// Package ownpages lets go of memory in which this program's own file is mapped.
//
// The kernel maps 64 KiB of a file for each page of it that is touched. To start a program touches
// most of its code and tables: each package has something to initialise. Little of that is used
// again.
package ownpages
