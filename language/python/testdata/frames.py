"""Threads with frames of all kinds, which stand still. SIGUSR1 has faulthandler print them."""
import ctypes
import faulthandler
import signal
import sqlite3
import sys
import threading

faulthandler.register(signal.SIGUSR1, file=sys.stdout, all_threads=True)
lock = threading.Lock()
lock.acquire()


class Server:
    def handle(self, request):
        return sorted([3, 1, 2], key=lambda x: self.wait(x, "é"))

    def wait(self, *values):
        def inner():
            for name in (
                    n for n in
                    self.generator()):
                pass
        inner()

    def generator(self):
        yield from Nested()


class Nested:
    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        return getattr(self, "wäit")

    def __getattr__(self, name):
        callback(
            7)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def callback(x):
    Constructed(x)
    return 0


class Constructed:
    def __init__(self, x):
        exec(compile("\n\nblock()", "made.py", "exec"), {"block": block})


def block():
    with lock: pass


def recurse(n):
    if n: recurse(n - 1)
    else: block()


def query():
    db = sqlite3.connect(":memory:")
    db.create_function("f", 1, lambda x: block())
    db.execute("select f(1)").fetchall()


async def outer():
    async for x in agen():
        pass


async def agen():
    yield await inner_coroutine()


async def inner_coroutine():
    block()


def run():
    outer().send(None)


threads = [threading.Thread(target=t, args=a, name=t.__name__, daemon=True) for t, a in
           [(recurse, (150,)), (query, ()), (run, ()), (Server().handle, (1,))]]
for t in threads:
    t.start()
print("ready", flush=True)
block()
