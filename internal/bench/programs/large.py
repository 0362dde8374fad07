"""large.py TICKER LIBRARIES [TICKS]: a large program: Python with its extension
modules and so many shared libraries of this machine, some threads deep in calls
between Python and C, which wait. Writes a line when all do.

With TICKS, the first thread ticks at its bottom (ticker.h), and there is one more.
TICKER is ticker.c as a shared library.
"""
import ctypes
import glob
import importlib.util
import os
import sys
import threading
import time

THREADS = 8
DEPTH = 12  # of calls from C to Python and back

# Libraries that take a program over, rather than serve it.
LEFT_OUT = ("san.so", "memusage", "pcprofile", "SegFault", "malloc", "jit", "cuda")

PR_SET_PTRACER = 0x59616D61


def mapped():
    with open("/proc/self/maps") as maps:
        return {line.split(None, 5)[5] for line in maps if ".so" in line}


def load(enough):
    for name in sys.builtin_module_names + tuple(sys.stdlib_module_names):
        path = getattr(importlib.util.find_spec(name), "origin", None)
        if path and path.endswith(".so") and "test" not in name:
            importlib.import_module(name)
    folder = os.path.dirname(next(m for m in mapped() if "/libc." in m).rstrip())
    for library in sorted(glob.glob(folder + "/lib*.so.*"), key=os.path.basename):
        if len(mapped()) >= enough:
            return
        if not any(word in library for word in LEFT_OUT):
            try:
                ctypes.CDLL(library)
            except OSError:
                pass  # it wants what is not here


def call(depth, bottom):
    if depth == 0:
        bottom()
    max([depth - 1], key=lambda d: call(d, bottom))


def main():
    # So that also where only a parent may attach, others may.
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(-1))
    ticker = ctypes.CDLL(sys.argv[1])
    load(int(sys.argv[2]))
    waiting = threading.Barrier(THREADS)
    for _ in range(THREADS - 1):
        threading.Thread(target=call, args=(DEPTH, lambda: (waiting.wait(), time.sleep(1e6))), daemon=True).start()
    ticks = None
    if len(sys.argv) > 3:
        ticker.ticker_start.restype = ctypes.c_void_p
        ticks = ticker.ticker_start(sys.argv[3].encode())

    def bottom():
        waiting.wait()
        time.sleep(0.1)
        print("ready", len(mapped()), flush=True)
        if ticks:
            ticker.ticker_run(ctypes.c_void_p(ticks))
        time.sleep(1e6)

    call(DEPTH, bottom)


main()
