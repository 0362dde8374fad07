# 2,000 tasks that wait, each in a coroutine of its own that another one awaits.
import asyncio
import sys


async def inner():
    await asyncio.Event().wait()


async def outer():
    await inner()


async def main():
    tasks = [asyncio.ensure_future(outer()) for _ in range(2000)]
    await asyncio.sleep(0)
    print("ready", flush=True)
    sys.stdin.read()
    return tasks


asyncio.run(main())
