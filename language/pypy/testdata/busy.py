# Runs the hard parts of Python for ever. What runs is told by a number in shared memory; the trace
# that belongs to a number is told once, on the standard output. See stops_linux_test.go.
import contextlib
import mmap
import os
import sys

import cffi

ffi = cffi.FFI()
ffi.cdef("void qsort(void *, size_t, size_t, int (*)(void *, void *));")
libc = ffi.dlopen(None)

shared = os.open(os.environ["ORACLE"], os.O_RDWR | os.O_CREAT)
os.ftruncate(shared, mmap.PAGESIZE)
memory = mmap.mmap(shared, mmap.PAGESIZE)
cell = ffi.cast("long *", ffi.from_buffer(memory))
told = set()


def tell(number):
    told.add(number)
    frame, lines = sys._getframe(1), []
    while frame:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        lines.append("%s\t%s\t%d" % (name, code.co_filename, frame.f_lineno))
        frame = frame.f_back
    print("%d\t%s" % (number, "\t".join(lines)), flush=True)


def small(i):
    return i * 7 % 5


class Number:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Number(self.value + small(other))


def work(number, n=150):
    if number not in told:
        tell(number)
    cell[0] = number
    total = Number(0)
    for i in range(n):
        total = total + i
    cell[0] = 0
    return total.value


def recurse(number, n):
    if n == 0:
        return work(number)
    return recurse(number, n - 1) + 1


class Base:
    def method(self, number):
        return work(number)

    @classmethod
    def of_class(cls, number):
        return cls().method(number)

    @staticmethod
    def of_none(number):
        return work(number)

    @property
    def attribute(self):
        return work(31)

    def __getattr__(self, name):
        return work(32)

    def __enter__(self):
        work(33)
        return self

    def __exit__(self, *args):
        work(34)


class Derived(Base):
    def method(self, number):
        return super().method(number) + 1


def closure(number):
    def inner(n):
        def innermost():
            return work(number, n)

        return innermost()

    return inner(100) + (lambda: work(number + 1))()


def generator(number):
    for i in range(3):
        yield work(number)
    yield from delegated(number + 1)


def delegated(number):
    yield work(number)
    yield work(number + 1)


async def awaited(number):
    return work(number)


async def awaits(number):
    return await awaited(number) + await awaited(number + 1)


def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value


def raises(number):
    try:
        work(number)
        raise ValueError
    except ValueError:
        work(number + 1)
        raise KeyError from None
    finally:
        work(number + 2)


def catches(number):
    try:
        raises(number)
    except KeyError:
        return work(number + 3)


@ffi.callback("int(void *, void *)")
def compares(a, b):
    a, b = ffi.cast("int *", a)[0], ffi.cast("int *", b)[0]
    return work(71, 60) and a - b


def callbacks():
    numbers = ffi.new("int[4]", [3, 1, 4, 1])
    libc.qsort(numbers, 4, ffi.sizeof("int"), compares)


def builtins():
    sorted([3, 1, 2], key=lambda x: work(81, 50) and x)
    list(map(Base.of_none, [82, 83]))
    sum(work(n) for n in (84, 85))
    [work(86) for _ in range(2)]
    {n: work(87) for n in (1, 2)}


@contextlib.contextmanager
def manager(number):
    work(number)
    yield
    work(number + 1)


def wrap(function):
    def wrapper(*args, **keywords):
        return function(*args, **keywords)

    return wrapper


wrapped = wrap(wrap(work))
source = """
def of_source(n):
    return work(n)
of_source(101)
work(102)
"""
compiled = compile(source, "source", "exec")


def loops():
    for i in range(40):
        work(111, 20)
        for j in range(3):
            if j == 2:
                work(112, 20)
    i = 0
    while i < 20:
        i += 1
        work(113, 30)


def all_parts():
    work(1)
    for n in (1, 3, 30):
        recurse(10 + n, n)
    Base().method(50)
    Derived.of_class(51)
    Derived().attribute
    Derived().missing
    with Base():
        work(35)
    closure(52)
    for _ in generator(54):
        work(57)
    run(awaits(61))
    catches(64)
    callbacks()
    builtins()
    with manager(91):
        work(93)
    wrapped(94)
    exec(compiled)
    eval("work(103)")
    loops()


def main():
    while True:
        all_parts()


print("ready", flush=True)
main()
