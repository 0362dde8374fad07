# What the tests look at: a method calls middle, and that inner, which tells what Python
# makes of this stack and then blocks.
import sys


def inner():
    frame, names = sys._getframe(), []
    while frame:
        names.append(frame.f_code.co_qualname)
        frame = frame.f_back
    print("ready", " ".join(names), sep="\n", flush=True)
    sys.stdin.read()


def middle():
    inner()


class Box:
    def outer(self):
        middle()


Box().outer()
