"""naps.py THREADS [once]: threads that sleep for a moment, over and over, each time in the middle
of other calls. With "once", each has calls of its own, and sleeps there on and on.

The innermost function, endsXY, says how many calls there are: X is the number of calls of one()
modulo 2, Y the number of calls of two() modulo 3. Each calls step(), as the thread does at first.
"""
import random
import sys
import threading
import time


def zero(depth, ones, twos):
    return step(depth, ones, twos)


def one(depth, ones, twos):
    return step(depth, ones + 1, twos)


def two(depth, ones, twos):
    return step(depth, ones, twos + 1)


def sleep():
    again = True
    while again:
        time.sleep(random.random() * 0.004)
        again = once


def ends00():
    sleep()


def ends01():
    sleep()


def ends02():
    sleep()


def ends10():
    sleep()


def ends11():
    sleep()


def ends12():
    sleep()


ENDS = (ends00, ends01, ends02), (ends10, ends11, ends12)
CALLS = zero, one, two


def step(depth, ones, twos):
    if not depth:
        return ENDS[ones % 2][twos % 3]()
    call = random.choice(CALLS)
    if random.random() < 0.1:
        return max([depth - 1], key=lambda d: call(d, ones, twos))  # through C
    return call(depth - 1, ones, twos)


def run():
    while True:
        step(random.randrange(30), 0, 0)


once = sys.argv[2:] == ["once"]
for _ in range(int(sys.argv[1])):
    threading.Thread(target=run, daemon=True).start()
print("ready", flush=True)
time.sleep(1e6)
