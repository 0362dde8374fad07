// Package show prints the stacks of targets: as text, as JSON, merged into one list, tree or
// picture. A verb opens a target as a [report.Source], has the flags of [report.Flags], and calls
// [Target]; or it makes [Stacks] to print the stacks of several rounds and processes together.
package show
