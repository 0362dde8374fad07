// Package sframe is the verb sframe: dumps SFrame sections, compares them with DWARF, and makes
// them from DWARF.
package sframe
