"""Threads with names and exceptions. The first argument "gil" has one of them never let the GIL go."""
import ctypes
import json
import sys
import threading
import traceback


class Error(Exception):
    pass


class Telling(Exception):
    def __str__(self):
        return "the code for this text cannot run"


class Missing(KeyError):
    pass


lock = threading.Lock()
lock.acquire()
said = {}


def innermost(tb):
    """The name of the function of the last entry: qualified from 3.11 on."""
    while tb.tb_next:
        tb = tb.tb_next
    code = tb.tb_frame.f_code
    return getattr(code, "co_qualname", code.co_name)


def run(raises):
    name = threading.current_thread().name
    said[name] = ""
    if raises is not None:
        try:
            raises()
        except BaseException as e:
            said[name] = "".join(traceback.format_exception_only(type(e), e)).splitlines()[-1]
            if isinstance(e, Telling):
                said[name] = "Telling('x', 1)"
            last = traceback.extract_tb(e.__traceback__)[-1]
            said[name] += ", raised in %s at %s:%d" % (innermost(e.__traceback__), last.filename, last.lineno)
            ready.release()
            with lock:
                pass
    ready.release()
    with lock:
        pass


def throw(e):
    def do():
        raise e
    return do


def handled_below():
    """An exception that a caller handles is being handled here, too."""
    try:
        raise Error("outer")
    except Error:
        try:
            {}["k"]
        except KeyError:
            pass
        raise


def generator():
    try:
        raise Error("in a generator")
    except Error:
        yield


def suspended():
    for _ in generator():
        raise ValueError("beside a suspended one")


ready = threading.Semaphore(0)
jobs = {
    "plain \u20ac": None, "no text": throw(Error()), "text": throw(Error("some text")), "two": throw(Error("a", 2)),
    "builtin": lambda: 1 / 0, "key": lambda: {}["k"], "missing": throw(Missing("m")), "file": lambda: open("/does/not/exist"),
    "number": throw(OSError(2, "text")), "plain os": throw(OSError("no number")), "telling": throw(Telling("x", 1)),
    "unicode": lambda: b"\xff".decode(), "attribute": lambda: json.nothing, "outer": handled_below, "generator": suspended,
    "exit": lambda: sys.exit(3), "import": lambda: __import__("nothing_of_this_name"), "module": lambda: json.loads("{"),
    "number text": throw(Error(7)), "two bytes": lambda: b"x\xe2\x82".decode(), "bytearray": lambda: bytearray(b"\xff").decode(),
    "encode": lambda: "a\xe9".encode("ascii"), "encode wide": lambda: "\xe9\u20ac".encode("latin-1"),
    "encode widest": lambda: "a\U0001f600".encode("ascii"), "surrogates": lambda: "\ud800\udc80".encode(),
    "translate": throw(UnicodeTranslateError("ab", 1, 2, "no")), "translate two": throw(UnicodeTranslateError("abc", 1, 3, "no")),
    "syntax": lambda: compile("x = = 1", "<in>", "exec"), "indent": lambda: compile("if 1:\nx", "<in>", "exec"),
    "no details": throw(SyntaxError()),
}
if sys.version_info >= (3, 11):
    jobs["group"] = throw(ExceptionGroup("many", [ValueError(1), TypeError()]))
    jobs["group of one"] = throw(BaseExceptionGroup("one", (SystemExit(),)))
for name, job in jobs.items():
    threading.Thread(target=run, args=(job,), name=name, daemon=name == "text").start()
for _ in jobs:
    ready.acquire()
said["MainThread"] = ""


def hold():
    print("ready")
    print(json.dumps(said), flush=True)
    if "gil" in sys.argv:
        ctypes.PyDLL(None).pause()  # with the GIL
    with lock:
        pass


threading.Thread(target=hold, name="holder").start()
while "gil" in sys.argv:
    pass
