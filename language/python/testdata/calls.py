"""calls.py: calls of all kinds, most of which do not leave the evaluator. Each function says in its text
whom it calls."""


def leaf(n):
    return n


def comp(n):
    return [leaf(i) for i in range(n)]


def kw(a, *, b=1, **more):
    return leaf(a)


def star(*a):
    return leaf(*a)


class A:
    def __init__(self, n):
        self.v = leaf(n)

    @property
    def p(self):
        return leaf(3)

    def __getitem__(self, i):
        return leaf(i)

    def __getattr__(self, name):
        return leaf(name)

    def __add__(self, other):
        return leaf(other)


def gen(n):
    for i in range(n):
        yield leaf(i)


def dele(n):
    yield from gen(n)


async def inner(n):
    return leaf(n)


async def outer(n):
    return await inner(n)


def thrower():
    try:
        raise ValueError
    finally:
        leaf(3)


def catches():
    try:
        thrower()
    except ValueError:
        return leaf(2)


def work():
    while True:
        comp(2), kw(1, b=2, c=3), star(1), A(1).p, A(1)[2], A(1).other, A(1) + 2
        for x in gen(2):
            pass
        for x in dele(2):
            pass
        try:
            outer(1).send(None)
        except StopIteration:
            pass
        (lambda: leaf(1))()
        catches()


print("ready", flush=True)
work()
