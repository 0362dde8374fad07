package python

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/internal/count"
)

// mostHandled bounds the chain of exceptions that a thread is handling.
const mostHandled = 1 << 10

// exceptionOf returns the exception that a thread is raising, else the one that it is handling, as
// the last line of a traceback has it, and where it was raised; "" if there is none.
func (r *interpreter) exceptionOf(o *objects, t *threadState) string {
	object, text := o.raised(t)
	if object == 0 {
		return text
	}
	if text = o.exceptionText(object); text == "" {
		return ""
	}
	return text + r.raisedAt(o, object)
}

// raised returns the exception that a thread is raising, or handling. Where it is not made yet,
// text says what it will be.
func (o *objects) raised(t *threadState) (object uint64, text string) {
	l := o.layout
	switch {
	case l.minor >= 12 && l.has(threadException):
		object, _ = o.pointer(t.addr, threadException)
	case l.minor < 12 && l.has(threadExceptionValue, threadExceptionType):
		// The value may be what the exception will be made of, or missing.
		typ, _ := o.pointer(t.addr, threadExceptionType)
		value, _ := o.pointer(t.addr, threadExceptionValue)
		if typ == 0 {
			break
		}
		c, err := o.class(typ)
		if err != nil || c.flags&flagException == 0 {
			break
		}
		o.describe(c)
		if value == 0 {
			return 0, c.traced()
		}
		if v, err := o.typeOf(value); err != nil || v.flags&flagException == 0 {
			return 0, c.traced() + ": " + o.asText(value)
		}
		object = value
	}
	if object == 0 {
		object = o.handled(t)
	}
	return object, ""
}

// mostTracebacks bounds the entries of a traceback.
const mostTracebacks = 1 << 12

// raisedAt says where an exception was raised, as the last entry of its traceback has it; "" if
// that is not known.
func (r *interpreter) raisedAt(o *objects, object uint64) string {
	l := o.layout
	if !l.has(exceptionTraceback, tracebackNext, tracebackFrame, tracebackLine, tracebackLast) {
		return ""
	}
	at, err := o.pointer(object, exceptionTraceback)
	if err != nil || at == 0 {
		return ""
	}
	for n := 0; ; n++ {
		c, err := o.typeOf(at)
		if err != nil || c.name != "traceback" || n == mostTracebacks {
			return ""
		}
		next, err := o.pointer(at, tracebackNext)
		if err != nil {
			return ""
		}
		if next == 0 {
			break
		}
		at = next
	}
	frame, err := o.pointer(at, tracebackFrame)
	if err != nil {
		return ""
	}
	executable := frameObjectCode
	if l.minor >= 11 {
		if frame, err = o.pointer(frame, frameObjectFrame); err != nil {
			return ""
		}
		executable = frameExecutable
	}
	addr, err := o.pointer(frame, executable)
	if err != nil {
		return ""
	}
	if l.minor >= 13 {
		addr &^= 7
	}
	code, err := r.codeAt(o.memory, addr)
	if err != nil || code == nil {
		return ""
	}
	line, err := o.int32(at + l.at[tracebackLine])
	if err != nil {
		return ""
	}
	if line <= 0 { // 3.12 on: not worked out yet
		last, err := o.int32(at + l.at[tracebackLast])
		if err != nil {
			return ""
		}
		line = int32(code.line(o.memory, int64(last)))
	}
	if line <= 0 {
		return fmt.Sprintf(", raised in %s at %s", code.name, code.file)
	}
	return fmt.Sprintf(", raised in %s at %s:%d", code.name, code.file, line)
}

// handled returns the exception that a thread is handling; 0 for none.
func (o *objects) handled(t *threadState) uint64 {
	l := o.layout
	if !l.has(threadHandled, handledValue, handledPrevious) {
		return 0
	}
	item, err := o.pointer(t.addr, threadHandled)
	for n := 0; err == nil && item != 0 && n < mostHandled; n++ {
		value, err := o.pointer(item, handledValue)
		if err != nil {
			return 0
		}
		if value != 0 {
			if c, err := o.typeOf(value); err == nil && c.flags&flagException != 0 {
				return value
			}
		}
		if item, err = o.pointer(item, handledPrevious); err != nil {
			return 0
		}
	}
	return 0
}

// traced is the name of a class of exceptions as tracebacks have it.
func (c *class) traced() string { return strings.TrimPrefix(c.qualified, "__main__.") }

// exceptionText returns an exception as the last line of a traceback has it. Classes with a text of
// their own are written as repr() does it.
func (o *objects) exceptionText(object uint64) string {
	c, err := o.classOf(object)
	if err != nil || c.flags&flagException == 0 {
		return ""
	}
	if c.hasText {
		return o.value(object)
	}
	builtin := o.builtinException(c)
	text, err := o.exceptionWords(object, builtin)
	switch {
	case err != nil:
		return c.traced()
	case text == "":
		return c.traced()
	}
	return c.traced() + ": " + text
}

// builtinException returns the name of the builtin exception that a class extends.
func (o *objects) builtinException(c *class) string {
	for n := 0; c.heap() && c.base != 0 && n < 64; n++ {
		base, err := o.class(c.base)
		if err != nil {
			break
		}
		c = base
	}
	return c.name
}

// exceptionWords is str() of an exception that extends the builtin one of a name.
func (o *objects) exceptionWords(object uint64, builtin string) (string, error) {
	l := o.layout
	args, err := o.pointer(object, exceptionArgs)
	if err != nil {
		return "", err
	}
	items, n, err := o.items(args, mostItems)
	if err != nil {
		return "", err
	}
	switch builtin {
	case "KeyError":
		if n == 1 {
			return o.value(items[0]), nil
		}
	case "OSError", "BlockingIOError", "ConnectionError", "ChildProcessError", "BrokenPipeError", "ConnectionAbortedError",
		"ConnectionRefusedError", "ConnectionResetError", "FileExistsError", "FileNotFoundError", "IsADirectoryError",
		"NotADirectoryError", "InterruptedError", "PermissionError", "ProcessLookupError", "TimeoutError":
		if !l.has(osErrorNumber, osErrorText, osErrorFile) {
			break
		}
		number, _ := o.pointer(object, osErrorNumber)
		text, _ := o.pointer(object, osErrorText)
		file, _ := o.pointer(object, osErrorFile)
		if number != 0 && text != 0 {
			s := fmt.Sprintf("[Errno %s] %s", o.asText(number), o.asText(text))
			if file != 0 {
				if c, err := o.typeOf(file); err == nil && c.name != "NoneType" {
					s += ": " + o.value(file)
				}
			}
			return s, nil
		}
	case "SyntaxError", "IndentationError", "TabError":
		if n == 0 {
			return "<no detail available>", nil
		}
		return o.asText(items[0]), nil
	case "BaseExceptionGroup", "ExceptionGroup":
		if n != 2 {
			break
		}
		if _, parts, err := o.items(items[1], 1); err == nil {
			return o.asText(items[0]) + " (" + count.Of(parts, "sub-exception") + ")", nil
		}
	case "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError":
		if text, err := o.codecWords(builtin, items); err == nil {
			return text, nil
		}
	}
	switch n {
	case 0:
		return "", nil
	case 1:
		return o.asText(items[0]), nil
	}
	return o.value(args), nil
}

// asText is str() of an object.
func (o *objects) asText(object uint64) string {
	if c, err := o.typeOf(object); err == nil && c.flags&flagStr != 0 {
		if text, err := o.text(object, mostText); err == nil {
			return text
		}
	}
	return o.value(object)
}
