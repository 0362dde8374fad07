// csc -unsafe -optimize+ -debug:portable threads.cs (Roslyn) makes threads.dll; -debug:embedded the one
// in embedded, changed as the one of tasks.cs.
//
// Threads have names, hold monitors and wait for them, in a ring, and handle exceptions. The program
// says of each the system's number, .NET's number and the name.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Threads;

class Till { }
class Shelf { }
class Fails : Exception { public Fails(string text) : base(text) { } }

static class Program
{
    static readonly Till till = new();
    static readonly Shelf shelf = new();
    static readonly object bell = new();
    static readonly List<string> said = new();
    static int ready, met;

    [DllImport("libc")] static extern long syscall(long number);
    [DllImport("libc")] static extern void abort();

    static void Start(string name, bool background, Action run)
    {
        new Thread(() => run()) { Name = name, IsBackground = background }.Start();
    }

    static async void InPool()
    {
        await Task.Yield();
        Ready();
        Thread.Sleep(-1);
    }

    static void Meet()
    {
        Interlocked.Increment(ref met);
        while (Volatile.Read(ref met) < 2)
            Thread.Sleep(1);
    }

    static void Ready()
    {
        lock (said)
            said.Add(syscall(186) + " " + Environment.CurrentManagedThreadId + " " + Thread.CurrentThread.Name);
        Interlocked.Increment(ref ready);
    }

    static void Main(string[] args)
    {
        Thread.CurrentThread.Name = "main ü";
        Start("first", true, () =>
        {
            lock (till)
            {
                Meet();
                Ready();
                lock (shelf) { }
            }
        });
        Start("second", false, () =>
        {
            lock (shelf)
            {
                Meet();
                Ready();
                lock (till) { }
            }
        });
        Start("waits", true, () =>
        {
            lock (bell)
            {
                Ready();
                Monitor.Wait(bell);
            }
        });
        Start("sleeps", true, () =>
        {
            Ready();
            Thread.Sleep(-1);
        });
        Start("handles", true, () =>
        {
            try { throw new Fails("no such item"); }
            catch (Fails)
            {
                try { throw new InvalidOperationException("nested"); }
                catch (InvalidOperationException)
                {
                    Ready();
                    Thread.Sleep(-1);
                }
            }
        });
        Start("handled", true, () =>
        {
            try { throw new Fails("over"); } catch (Fails) { }
            Ready();
            Thread.Sleep(-1);
        });
        Start(null, true, () =>
        {
            Ready();
            for (;;) { }
        });
        InPool();
        Ready();
        while (ready < 9)
            Thread.Sleep(1);
        Thread.Sleep(100); // to wait takes a moment more than to say so
        Console.WriteLine("ready");
        foreach (string line in said)
            Console.WriteLine(line);
        Console.WriteLine("end");
        if (args.Length > 0)
            abort();
        Thread.Sleep(-1);
    }
}
