"""begins.py: calls of the evaluator that begin one after the other, at the same depths of the stack,
from other functions of C each time."""


def key(x):
    return len(str(x))


def gen(n):
    for i in range(n):
        yield key(i)


class A:
    def __init__(self, x):
        self.x = key(x)

    def __lt__(self, other):
        return self.x < other.x

    def __repr__(self):
        return str(self.x)


def deep(n):
    return sorted([n, 1], key=lambda x: deep(n - 1) if n else key(x))


print("ready", flush=True)
while True:
    sorted([2, 1], key=key)
    sum(gen(2))
    repr([A(1), A(2)])
    sorted(map(A, range(3)))
    deep(3)
    list(map(key, gen(2)))
