// Package sniffers has the flags by which the user chooses the sniffers, their order, and what they
// read: plug-ins, folders of SFrame sections and of symbol files. Its [Choice] makes the table of
// sniffers of one target.
package sniffers
