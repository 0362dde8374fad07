# trio_tasks.py: tasks of trio, in nurseries within each other. It prints each with the frames of its
# coroutines, and the task whose nursery it is in, and then waits for its input to end.
import json
import os
import sys

import trio
import trio.testing


async def leaf():
    await trio.sleep_forever()


async def middle(depth):
    if depth:
        await middle(depth - 1)
    else:
        await leaf()


async def nested(name):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(middle, 1, name=name + "-1")
        nursery.start_soon(leaf, name=name + "-2")


async def two_nurseries():
    async with trio.open_nursery() as outer, trio.open_nursery() as inner:
        outer.start_soon(leaf, name="of outer")
        inner.start_soon(nested, "inner", name="of inner")


async def generates():
    yield 1
    await leaf()


async def iterates():
    async for _ in generates():
        pass


async def ends():
    return leaf


async def reads():
    send, receive = trio.open_memory_channel(0)
    async with send, receive:
        await receive.receive()


def frames(task):
    list = []
    coroutine = task.coro
    while coroutine is not None:
        for kind in ("cr", "gi", "ag"):
            if hasattr(coroutine, kind + "_frame"):
                frame = getattr(coroutine, kind + "_frame")
                name = getattr(frame.f_code, "co_qualname", coroutine.__qualname__)  # 3.11 on
                list.append([name, frame.f_code.co_filename, frame.f_lineno])
                coroutine = getattr(coroutine, kind + "_await", None) or getattr(coroutine, kind + "_yieldfrom", None)
                break
        else:
            coroutine = generator_of(coroutine)
    return list[::-1]


def generator_of(x):
    import gc

    for y in gc.get_referents(x):  # what an asend() drives
        if hasattr(y, "ag_frame"):
            return y


def tell():
    told = []
    stack = [trio.lowlevel.current_root_task()]
    while stack:
        task = stack.pop()
        parent = task.parent_nursery.parent_task.name if task.parent_nursery else None
        told.append([task.name, frames(task), parent, os.getpid() if sys.version_info >= (3, 11) else 0])
        for nursery in task.child_nurseries:
            stack += nursery.child_tasks
    print("ready")
    print(json.dumps(told), flush=True)


async def input_ends(scope):
    await trio.to_thread.run_sync(sys.stdin.read)
    scope.cancel()


async def main():
    async with trio.open_nursery() as nursery:
        for f in (two_nurseries, iterates, ends, reads):
            nursery.start_soon(f, name=f.__name__)
        nursery.start_soon(nested, "nested", name="nested")
        nursery.start_soon(input_ends, nursery.cancel_scope, name="input")
        await trio.testing.wait_all_tasks_blocked()
        trio.lowlevel.current_trio_token().run_sync_soon(tell)  # when this task waits, too
        await leaf()


trio.run(main)
