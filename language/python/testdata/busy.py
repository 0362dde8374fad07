"""Threads that run functions of all kinds: what may call what is in its text."""
import threading

def leaf(n):
    s = 0
    for i in range(n):
        s += i
    return s
class A:
    def __init__(self, n):
        self.v = middle(n)
    def __repr__(self):
        return str(leaf(3))
    def __lt__(self, other):
        return leaf(2) < leaf(3)
def middle(n):
    return leaf(n) + leaf(2)
def gen(n):
    for i in range(n):
        yield leaf(i)
def uses_gen(n):
    return sum(gen(n))
def comp(n):
    return [middle(i) for i in range(n)]
def key(x):
    return leaf(x)
def sorts(n):
    return sorted(range(n), key=key)
def lambdas(n):
    return list(map(lambda x: leaf(x), range(n)))
def raises(n):
    try:
        thrower(n)
    except ValueError:
        leaf(n)
    finally:
        leaf(2)
def thrower(n):
    if n:
        thrower(n - 1)
    raise ValueError(repr(A(2)))
async def coro(n):
    return await coro2(n)
async def coro2(n):
    return leaf(n)
def drives(n):
    try:
        coro(n).send(None)
    except StopIteration:
        pass
def recursion(n):
    if n:
        recursion(n - 1)
    else:
        leaf(5)
def executes(n):
    exec("leaf(3)")
def work():
    while True:
        A(5)
        uses_gen(4)
        comp(4)
        sorts(5)
        lambdas(4)
        raises(3)
        drives(4)
        recursion(30)
        executes(1)
        sorted([A(1), A(2), A(1)])
for i in range(2):
    threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
work()
