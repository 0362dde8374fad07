// Command sniffer-perfmap is a plug-in for code of just-in-time compilers that list their code in
// /tmp/perf-PID.map or in a jitdump. V8 (Node.js) does so if it is asked to:
//
//	node --perf-basic-prof --interpreted-frames-native-stack x.js
//	sfwalk attach --plugin sniffer-perfmap PID
//
// It reads these files, and the code that comes with each question. It answers with rows for ranges
// of PCs, and with names, files and lines. README.md lists its limits.
//
// The process has written the files, and so the plug-in checks all that it reads.
package main

import "github.com/sfwalk/sfwalk/plugin"

func main() { plugin.Serve(&sniffer{}) }
