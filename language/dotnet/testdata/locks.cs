// mcs -optimize+ -out:locks.dll locks.cs makes locks.dll, for .NET 9 and later.
//
// A thread holds a System.Threading.Lock, for which others wait. The program says of each the
// system's number and what it does. Before .NET 9 it says nothing.
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class Program
{
    [DllImport("libc")] static extern long syscall(long number);

    static int ready;

    static void Start(string name, Action run)
    {
        new Thread(() =>
        {
            lock (typeof(Program)) Console.WriteLine(syscall(186) + " " + name);
            Interlocked.Increment(ref ready);
            run();
        }) { IsBackground = true }.Start();
    }

    static void Main()
    {
        Type type = Type.GetType("System.Threading.Lock");
        if (type == null)
        {
            Console.WriteLine("ready\nend");
            Thread.Sleep(-1);
        }
        object one = Activator.CreateInstance(type);
        var enter = (Action)Delegate.CreateDelegate(typeof(Action), one, "Enter");
        var attempt = (Func<TimeSpan, bool>)Delegate.CreateDelegate(typeof(Func<TimeSpan, bool>), one, "TryEnter");
        Console.WriteLine("ready");
        Start("holds", () => { enter(); Interlocked.Increment(ref ready); Thread.Sleep(-1); });
        while (Volatile.Read(ref ready) < 2)
            Thread.Sleep(1);
        Start("waits", enter);
        Start("waits a day", () => attempt(TimeSpan.FromDays(1)));
        while (Volatile.Read(ref ready) < 4)
            Thread.Sleep(1);
        Thread.Sleep(300); // to wait takes a moment more than to say so
        Console.WriteLine("end");
        Thread.Sleep(-1);
    }
}
