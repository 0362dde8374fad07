package hints

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// runtime is an interpreter or a compiler at run time that can tell the names of its functions.
type runtime struct {
	file    func() *regexp.Regexp // the name of a file that only processes with it have
	evals   []string              // what begins the names of that file's functions that run the program's
	bare    bool                  // code of that file which no table has runs the program's functions, too
	never   bool                  // no code is made at run time
	subject string                // what has no names
	remedy  string                // what gives them names; %d is the PID
	// language is the name that the language's decorator has; "" if there is none.
	language string
	onHeap   bool // that language's frames are on the heap
	// older says what to say in place of the remedy; "" if the remedy helps. It gets what file has
	// matched.
	older func(file []string) string
}

// runtimes are asked in this order: the first that is in the process, and in a stack, is told of.
var runtimes = []runtime{
	{
		file: matching(`^(node(js)?\d*|libnode\.so\..*)$`), evals: []string{"Builtins_InterpreterEntryTrampoline", "Builtins_BaselineOutOfLinePrologue", "Builtins_InterpreterPushArgs"}, bare: true, language: "javascript",
		subject: "JavaScript's functions", remedy: "start node with --perf-basic-prof --interpreted-frames-native-stack",
	},
	{
		file: matching(`^libjvm\.so$`), language: "java",
		subject: "Java's methods", remedy: "'jcmd %d Compiler.perfmap' has JDK 17 and later write them down: then look again",
	},
	{
		file:    matching(`^libj9(vm|jit)\d*\.so$`),
		subject: "Java's methods", remedy: "start java with -XX:+PerfTool",
	},
	{
		file: matching(`^(?:python|libpython)(\d)?(?:\.(\d+))?[dmtu]*(?:-dbg)?(?:\.so.*)?$`), language: "python", onHeap: true, evals: []string{"_PyEval_EvalFrame", "PyEval_EvalFrame"}, never: true,
		subject: "Python's functions", remedy: "start Python 3.12 or later with -X perf", older: olderPython,
	},
	{
		file: matching(`^(ruby[\d.]*|libruby.*\.so.*)$`), language: "ruby", onHeap: true, evals: []string{"vm_exec_core"},
		subject: "Ruby's compiled methods", remedy: "start ruby 3.3 or later with --yjit --yjit-perf",
	},
	{
		file: matching(`^libcoreclr\.so$`), language: "dotnet",
		subject: ".NET's methods", remedy: "start the program with DOTNET_PerfMapEnabled=1 in its environment",
	},
	{
		file: matching(`^(mono(-sgen|-boehm)?|libmono(sgen|boehm)?-2\.0\.so.*)$`), language: "mono",
		subject: "Mono's methods", remedy: "start mono with --jitmap",
	},
	{
		file: matching(`^(php[\d.]*|php-fpm[\d.]*|php-cgi[\d.]*|libphp[\d.]*\.so|opcache\.so)$`), language: "php", onHeap: true,
		subject: "PHP's compiled functions", remedy: "start php with -d opcache.jit_debug=16",
	},
	{
		file: matching(`^(luajit.*|libluajit.*\.so.*)$`), language: "luajit",
		subject: "Lua's compiled functions", remedy: "build LuaJIT with -DLUAJIT_USE_PERFTOOLS",
	},
	{
		file: matching(`^beam(\.smp|\.jit)*$`), language: "erlang",
		subject: "Erlang's functions", remedy: "start erl with +JPperf true, or with ERL_FLAGS=\"+JPperf true\" in its environment",
	},
}

// matching compiles an expression when it is first asked for, not at the start of each program.
func matching(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// olderPython says that a release of Python has no such flag.
func olderPython(file []string) string {
	major, _ := strconv.Atoi(file[1])
	minor, err := strconv.Atoi(file[2])
	if err != nil || major > 3 || major == 3 && minor >= 12 {
		return ""
	}
	return fmt.Sprintf("this is Python %d.%d: from 3.12 on, -X perf gives them names", major, minor)
}

// evaluates reports whether a function of a file runs the functions of an interpreted program.
func evaluates(file, function string) bool {
	return slices.ContainsFunc(runtimes, func(r runtime) bool {
		return slices.ContainsFunc(r.evals, func(begin string) bool { return strings.HasPrefix(function, begin) }) && r.file().MatchString(file)
	})
}
