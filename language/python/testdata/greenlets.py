# greenlets.py: greenlets that wait, each in calls of its own, of Python and of C. It prints each
# with its frames, and then waits for its input to end.
import json
import os
import re
import sys
import threading

import greenlet

told = []


def tell():
    name = greenlet.getcurrent().name
    frame, frames = sys._getframe(1), []
    while frame:
        code = frame.f_code
        frames.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    told.append([name, frames, None, 0])


def park():
    tell(), greenlet.getcurrent().parent.switch()


def plain():
    park()


def deep(n):
    if n:
        deep(n - 1)
    else:
        park()


def calls_back():
    def called(_):
        sorted([1], key=lambda _: park())

    re.sub("x", called, "x")


def generator():
    park()
    yield


def in_generator():
    for _ in generator():
        pass


class Other(greenlet.greenlet):
    def run(self):
        deep(1)


def ends():
    pass


def start(name, g):
    g.name = name
    g.switch()
    return g


kept = [start(f.__name__, greenlet.greenlet(f)) for f in (plain, calls_back, in_generator, ends)]
kept += [start("deep %d" % i, greenlet.greenlet(lambda: deep(i))) for i in range(8)]
kept.append(start("other", Other()))
kept.append(greenlet.greenlet(plain))  # it has not begun
kept[0].itself = kept  # a cycle
ready, end = threading.Event(), threading.Event()


def thread():
    def waits():
        ready.set()
        end.wait()

    greenlet.getcurrent().name = "outermost of a thread"
    g = greenlet.greenlet(waits)
    tell(), g.switch()


t = threading.Thread(target=thread)
t.start()
ready.wait()
print("ready")
print(json.dumps(told), flush=True)
sys.stdin.read()
os._exit(0)
