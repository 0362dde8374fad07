# Stands still below a function that C has called, in two threads, with its trace told.
import sys
import threading
import time

import cffi

ffi = cffi.FFI()
ffi.cdef("void qsort(void *, size_t, size_t, int (*)(void *, void *));")
libc = ffi.dlopen(None)
rested = threading.Event()


def tell(frame):
    while frame:
        code = frame.f_code
        print(getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno)
        frame = frame.f_back
    print("end", flush=True)


class Sleeper:
    def sleep(self):
        try:
            raise ValueError
        except ValueError:
            tell(sys._getframe()), rested.set(), time.sleep(1e6)


@ffi.callback("int(void *, void *)")
def compares(a, b):
    return [x for x in sleeps(3)] and 0


def sleeps(n):
    if n > 0:
        yield from sleeps(n - 1)
    yield Sleeper().sleep()


def second():
    rested.wait()
    tell(sys._getframe()), time.sleep(1e6)


print("ready", flush=True)
threading.Thread(target=second, daemon=True).start()
libc.qsort(ffi.new("int[2]"), 2, 4, compares)
