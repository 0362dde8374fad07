"""A thread that waits in a function with variables of all kinds, and says itself what they are."""
import collections
import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import sys
import threading


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Point:
    x: int
    y: object


@dataclasses.dataclass
class Deep(Point):
    z: object = None


@dataclasses.dataclass
class Slotted:
    __slots__ = ("x", "__y")
    x: int
    __y: object


@dataclasses.dataclass
class MoreSlots(Slotted):
    __slots__ = ("z",)
    z: object


@dataclasses.dataclass
class SlotsAndDict(Slotted):
    z: object = None


class Plain:
    def __init__(self):
        self.a = 1


class Text(str):
    pass


class Number(int):
    pass


Pair = collections.namedtuple("Pair", "first second")
lock = threading.Lock()
lock.acquire()


def bounded(value):
    """repr() of what has more than ten items."""
    text = repr(value[:10])
    return text[:-1] + ", ..." + text[-1]


def values(self, n, /, plain, *rest, key="k", **more):
    small, negative, zero = 5, -12345678901234567890, 0
    digit, digits, minus = 2**30 - 1, 2**30, -(2**60)
    yes, no, nothing, dots = True, False, None, ...
    tenth, large, tiny, whole = 0.1, 1e22, 1.5e-7, 1e15
    edge, edge2, least = 1e16, 123456789012345680.0, 5e-324
    infinite, minus_infinite, nan, minus_zero = float("inf"), float("-inf"), float("nan"), -0.0
    complex1, complex2, complex3 = 1 + 2j, -2j, complex(-0.0, -1.5)
    ascii, quote, both, latin = "abc", "it's", "it's \"x\"", "caf\xe9 \xad\x7f"
    wide, emoji, control, empty = "\u20ac \u200b", "\U0001f600", "a\n\t\r\\\0\x1b", ""
    data, mutable = b"a\x00\xff'\n\\", bytearray(b'"hi\'')
    numbers, one, none_at_all = [1, 2, 3], (1,), ()
    nested = {"a": [1, (2, {3: {4}})], 2: None, None: {}}
    removed = {i: i for i in range(8)}
    del removed[3]
    unique, frozen, no_set, no_frozen = {7}, frozenset([8]), set(), frozenset()
    point, deep, pair, color = Point(1, Point(2, "y")), Deep(1, 2, [3]), Pair(1, "b"), Color.RED
    slotted, more_slots, slots_and_dict = Slotted(1, "y"), MoreSlots(1, [2], Slotted(3, None)), SlotsAndDict(1, 2, 3)
    instance, function, kind, error = Plain(), bounded, Point, ValueError("x", 1)
    exact, small_exact, large_exact = decimal.Decimal("-12.50"), decimal.Decimal("1E-9"), decimal.Decimal(10**25).scaleb(3)
    long_exact, exact_zero, exact_nan = decimal.Decimal("12345678901234567890123.000000000000000000001"), decimal.Decimal("0.00"), decimal.Decimal("-sNaN12")
    no_exact, edge_exact, infinite_exact = decimal.Decimal("0.000000"), decimal.Decimal("0E+2"), decimal.Decimal("-Infinity")
    date, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 23, 59)
    fine, zoned = moment.replace(microsecond=7), moment.replace(second=1, tzinfo=datetime.timezone.utc)
    second_moment = zoned.replace(fold=1)
    clock, second_clock = datetime.time(1, 2, 3), datetime.time(1, 2, fold=1, tzinfo=datetime.timezone(datetime.timedelta(hours=-5), "x"))
    no_delta, delta = datetime.timedelta(), datetime.timedelta(days=-1, seconds=3, microseconds=5)
    zone = datetime.timezone(datetime.timedelta(minutes=30))
    path, relative, here, upper = pathlib.Path("/a//b/./c"), pathlib.PurePath("a", "b/"), pathlib.Path(), pathlib.Path("x") / "/y" / "z"
    two_roots, asked = pathlib.PurePosixPath("//host/share"), pathlib.Path("as/text")
    str(asked)
    deque, no_deque, bounded_deque = collections.deque([1, "b"]), collections.deque(), collections.deque(range(9), 4)
    wide_deque = collections.deque(range(70))
    for _ in range(62):
        wide_deque.popleft()
    numbers_of, steps = range(3), range(5, -5, -2)
    itself = [1]
    itself.append(itself)
    map_itself = {}
    map_itself["a"] = map_itself
    event = threading.Event()
    lock_object, thread = lock, threading.Lock
    many = list(range(20))
    long_text = "x" * 300
    long_data = b"y" * 300
    captured = "in a cell"
    unset = 1
    del unset

    def inner():
        return captured, n

    said = {name: repr(value) for name, value in locals().items() if name != "said"}
    # What is bounded, and what a class of its own writes otherwise.
    said["many"] = bounded(many)
    said["long_text"] = repr(long_text[:200]) + "..."
    said["long_data"] = repr(long_data[:200]) + "..."
    said["event"] = object.__repr__(event)
    said["lock_object"] = "<_thread.lock object at %#x>" % id(lock_object)
    for name in "thread",:
        del said[name]
    print("ready")
    print(json.dumps(said), flush=True)
    del said
    with lock:
        pass


class Body:
    in_class = [1]
    values(Text("me"), Number(3), Point, 4, 5, key="v", extra=6)
