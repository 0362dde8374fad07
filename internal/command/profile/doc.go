// Package profile has the verbs record, perf and top: where a process spends its time, as files,
// pages for browsers and a screen. The pages and the screen themselves are in pprofhost and
// screenhost, which only sfwalk-full links.
package profile
