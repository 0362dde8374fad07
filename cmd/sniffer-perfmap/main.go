// Command sniffer-perfmap is a sniffer for code that a just-in-time compiler has made and
// listed in /tmp/perf-PID.map or in a jitdump, as V8 (Node.js) does if it is asked to:
//
//	node --perf-basic-prof --interpreted-frames-native-stack x.js
//	sfwalk attach --plugin sniffer-perfmap PID
//
// What enters are the process's files and the code that comes with each question, what
// leaves are rows that hold for a range of PCs, and names with file and line. README.md
// says what it cannot do.
//
// The process writes what is read here, so nothing of it is trusted.
package main

import "github.com/sfwalk/sfwalk/plugin"

func main() { plugin.Serve(&sniffer{}) }
