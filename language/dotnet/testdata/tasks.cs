// csc -unsafe -optimize+ -debug:portable tasks.cs (Roslyn) makes tasks.dll; -optimize- the one in debug;
// -debug:embedded the one in embedded, which lacks the rows of its table MethodImpl that are about
// SetStateMachine: trimmed programs have no such method.
//
// Async methods of many kinds wait for each other. Each of them notes which line it waits on, and by
// which one it is awaited. When all of them wait, the notes are written to a file.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Waits;

static unsafe class Native
{
    [DllImport("libc")] public static extern int open(byte[] path, int flags);
    [DllImport("libc")] public static extern byte* mmap(byte* at, nint size, int protection, int flags, int file, nint offset);
    [DllImport("libc")] public static extern void abort();
}

// The notes. An async method is a node: the file has a number, which is even while the notes are true;
// how many bytes they have; and a line for each way from a node to its outermost awaiter.
static unsafe class Notes
{
    public const int Size = 4 << 20;
    public static byte* All;

    class Node
    {
        public string Name;
        public int Line;
        public List<Node> AwaitedBy = new();
    }

    static readonly List<Node> nodes = new();
    static int waiting;

    public static int Begin(int by, string name)
    {
        lock (nodes)
        {
            nodes.Add(new Node { Name = name });
            if (by >= 0)
                nodes[^1].AwaitedBy.Add(nodes[by]);
            return nodes.Count - 1;
        }
    }

    public static void AlsoBy(int node, int by) { lock (nodes) nodes[node].AwaitedBy.Add(nodes[by]); }

    // What is to be awaited is there already; the node waits on the caller's line.
    public static T At<T>(int node, T awaitable, [CallerLineNumber] int line = 0)
    {
        lock (nodes)
        {
            if (nodes[node].Line == 0)
                waiting++;
            nodes[node].Line = line;
        }
        return awaitable;
    }

    public static bool Settled(int n) { lock (nodes) return waiting == nodes.Count && n == nodes.Count; }
    public static int Count { get { lock (nodes) return nodes.Count; } }

    static void Paths(Node n, string before, List<string> list)
    {
        string text = before + n.Name + ":" + n.Line;
        if (n.AwaitedBy.Count == 0)
            list.Add(text);
        foreach (Node by in n.AwaitedBy)
            Paths(by, text + " < ", list);
    }

    public static void Write()
    {
        var list = new List<string>();
        lock (nodes)
            foreach (Node n in nodes)
                Paths(n, "", list);
        byte[] text = Encoding.UTF8.GetBytes(string.Join("\n", list));
        text.CopyTo(new Span<byte>(All + 16, Size - 16));
        *(long*)(All + 8) = text.Length;
        Interlocked.Increment(ref *(long*)All);
    }

    public static void Clear()
    {
        Interlocked.Increment(ref *(long*)All);
        lock (nodes)
        {
            nodes.Clear();
            waiting = 0;
        }
    }
}

// What the innermost methods of a round wait for, in one of many ways.
class Gate
{
    public readonly TaskCompletionSource<int> Open = new(TaskCreationOptions.RunContinuationsAsynchronously);
    public readonly SemaphoreSlim Slots = new(0);
    public readonly CancellationTokenSource Cancel = new();
    public readonly List<Action> More = new();

    public void Release()
    {
        Cancel.Cancel();
        Open.TrySetResult(1);
        Slots.Release(1 << 20);
        Action[] more;
        lock (More)
            more = More.ToArray();
        foreach (Action a in more)
            a();
    }
}

// An awaiter of the program's own, which is an object.
class Bell : INotifyCompletion
{
    Action then;
    public Bell GetAwaiter() => this;
    public bool IsCompleted => false;
    public void GetResult() { }
    public void OnCompleted(Action a) { then = a; }
    public void Ring() { then(); }
}

class Context : SynchronizationContext
{
    public override void Post(SendOrPostCallback d, object state) => ThreadPool.QueueUserWorkItem(_ => d(state));
}

class Fails : Exception { }

struct Cart<T>
{
    public T item;
    public async Task<U> Weigh<U>(Gate g, int by, int depth, U x)
    {
        int me = Notes.Begin(by, "Waits.Cart`1.Weigh[U]");
        await Notes.At(me, Kinds.Any(g, me, depth)).ConfigureAwait(false);
        return x;
    }
}

static class Kinds
{
    public static Random Chance = new(1);
    public static int Many(int n) { lock (Chance) return Chance.Next(n); }

    // Kinds of methods that wait for the gate, and ones that await others up to a depth.
    static List<Func<Gate, int, Task>> innermost = new()
    {
        Source, Semaphore, Delays, Rings, Late, (g, by) => Debugs(g, by).AsTask(), InFinally, Continues,
    };

    static List<Func<Gate, int, int, Task>> outer = new()
    {
        Plain, Valued, All, First, InCatch, Runs, Lambda, Local,
        (g, by, depth) => new Cart<string>().Weigh(g, by, depth, 5), (g, by, depth) => new Cart<int>().Weigh(g, by, depth, "x"),
        Each, Twice, Pools, Later, Switched,
    };

    public static Task Any(Gate g, int by, int depth) =>
        depth <= 0 ? innermost[Many(innermost.Count)](g, by) : outer[Many(outer.Count)](g, by, depth - 1);

    // Leaves out the kinds for which the run time lacks something: programs of one file may.
    public static void Probe()
    {
        bool Works(Func<Gate, Task> kind)
        {
            try
            {
                var gate = new Gate();
                Task task = kind(gate);
                for (bool first = true; !task.Wait(first ? 30 : 1000); first = false)
                    gate.Release();
                return true;
            }
            catch (Exception e) when (Lacks(e)) { return false; }
        }
        innermost = innermost.Where(kind => Works(g => kind(g, -1))).ToList();
        outer = outer.Where(kind => Works(g => kind(g, -1, 0))).ToList();
        Notes.Clear();
        Notes.Clear(); // the number is odd again
    }

    static bool Lacks(Exception e) =>
        e is MissingMemberException or TypeLoadException or FileNotFoundException || e is AggregateException && Lacks(e.InnerException);

    static async Task Source(Gate g, int by)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Source");
        await Notes.At(me, g.Open.Task);
    }

    static async Task Semaphore(Gate g, int by)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Semaphore");
        await Notes.At(me, g.Slots.WaitAsync());
    }

    static async Task Delays(Gate g, int by)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Delays");
        try
        {
            await Notes.At(me, Task.Delay(TimeSpan.FromDays(1), g.Cancel.Token));
        }
        catch (OperationCanceledException) { }
    }

    static async Task Rings(Gate g, int by)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Rings");
        var bell = new Bell();
        lock (g.More)
            g.More.Add(bell.Ring);
        await Notes.At(me, bell);
    }

    // Waits for the second time, on another thread.
    static async Task Late(Gate g, int by)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Late");
        await Task.Yield();
        string text = "x";
        for (int i = 0; i < 3; i++)
            await Task.Delay(1);
        await Notes.At(me, Task.WhenAny(g.Open.Task, g.Open.Task));
        GC.KeepAlive(text);
    }

    static async ValueTask<int> Debugs(Gate g, int by)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Debugs");
        await
            Notes.At(me, g.Open.Task, 244).
                ConfigureAwait(false);
        return 1;
    }

    static async Task InFinally(Gate g, int by)
    {
        int me = Notes.Begin(by, "Waits.Kinds.InFinally");
        try
        {
            await Task.Yield();
        }
        finally
        {
            await Notes.At(me, g.Open.Task);
        }
    }

    static async Task Continues(Gate g, int by)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Continues");
        await Notes.At(me, g.Open.Task.ContinueWith(t => t.Result + 1));
    }

    static async Task Plain(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Plain");
        await Notes.At(me, Any(g, me, depth));
    }

    static async ValueTask<string> Value(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Value");
        if (depth > 100)
            await Task.Yield();
        await Notes.At(me, Any(g, me, depth)); return "x";
    }

    static async Task Valued(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Valued");
        string s = await Notes.At(me, Value(g, me, depth));
        GC.KeepAlive(s);
    }

    static async Task All(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.All");
        await Notes.At(me, Task.WhenAll(Any(g, me, depth), Any(g, me, depth - 1), Any(g, me, 0)));
    }

    static async Task First(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.First");
        Task a = Any(g, me, depth), b = Any(g, me, 0);
        Task first = await Notes.At(me, Task.WhenAny(a, b));
        await Task.WhenAll(a, b);
    }

    static async Task InCatch(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.InCatch");
        try
        {
            await Task.Yield();
            throw new Fails();
        }
        catch (Fails) when (depth < 1000)
        {
            await Notes.At(me, Any(g, me, depth));
        }
    }

    static async Task Runs(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Runs");
        await Notes.At(me, Task.Run(() => Any(g, me, depth)));
    }

    static async Task Lambda(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Lambda");
        Func<int, Task> f = async n =>
        {
            int inner = Notes.Begin(me, "Waits.Kinds.<>c__DisplayClass.<Lambda>b__");
            await Notes.At(inner, Any(g, inner, n));
        };
        await Notes.At(me, f(depth));
    }

    static async Task Local(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Local");
        static async Task<T> Inner<T>(Gate g, int me, int n, T x)
        {
            int inner = Notes.Begin(me, "Waits.Kinds.<Local>g__Inner|[T]");
            await Notes.At(inner, Any(g, inner, n));
            return x;
        }
        await Notes.At(me, Inner(g, me, depth, "x"));
    }

    static async IAsyncEnumerable<int> Numbers(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Numbers");
        yield return 1;
        await Task.Yield();
        yield return 2;
        await Notes.At(me, Any(g, me, depth));
        yield return 3;
    }

    static async Task Each(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Each");
        await foreach (int i in Notes.At(me, Numbers(g, me, depth)))
            GC.KeepAlive(i);
    }

    // Two methods await the same one; one of them is not awaited yet.
    static async Task Twice(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Twice"), other = Notes.Begin(-1, "Waits.Kinds.Other"), both = Notes.Begin(me, "Waits.Kinds.Both");
        Notes.AlsoBy(both, other);
        Task task = Both(g, both, depth);
        Task second = Other(task, other);
        await Notes.At(me, task);
        await second;
    }

    static async Task Other(Task task, int me) { await Notes.At(me, task); }
    static async Task Both(Gate g, int me, int depth) { await Notes.At(me, Any(g, me, depth)); }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    static async ValueTask<long> Pooled(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Pooled");
        await Task.Yield();
        await Notes.At(me, Any(g, me, depth));
        return 1;
    }

    static async Task Pools(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Pools");
        await Notes.At(me, Pooled(g, me, depth)).ConfigureAwait(false);
    }

    static async Task Later(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Later");
        Task<int> then = Any(g, me, depth).ContinueWith(_ => 1);
        int got = await Notes.At(me, then);
        GC.KeepAlive(got);
    }

    static async Task Switched(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Switched");
        await Task.Delay(1).ConfigureAwait(false);
        var before = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(new Context());
        Task task = Inside(g, me, depth);
        SynchronizationContext.SetSynchronizationContext(before);
        await Notes.At(me, task);
    }

    static async Task Inside(Gate g, int by, int depth)
    {
        int me = Notes.Begin(by, "Waits.Kinds.Inside");
        await Notes.At(me, Any(g, me, depth));
    }

    // Nobody awaits it.
    public static async void Alone(Gate g, int depth)
    {
        int me = Notes.Begin(-1, "Waits.Kinds.Alone");
        await Notes.At(me, Any(g, me, depth));
    }
}

static class Program
{
    static async Task<int> Main(string[] args)
    {
        Open(args[0]);
        int roots = int.Parse(args[1]);
        Kinds.Chance = new Random(int.Parse(args[2]));
        Kinds.Probe();
        for (bool first = true; ; first = false)
        {
            int me = Notes.Begin(-1, "Waits.Program.Main");
            var gate = new Gate();
            var list = new List<Task>();
            for (int i = 0; i < roots; i++)
            {
                if (Kinds.Many(8) == 0)
                    Kinds.Alone(gate, Kinds.Many(9));
                else
                    list.Add(Kinds.Any(gate, me, Kinds.Many(9)));
            }
            var settled = new Thread(() => Watch(gate, first, args.Length > 3));
            settled.IsBackground = true;
            settled.Start();
            await Notes.At(me, Task.WhenAll(list));
            settled.Join();
        }
    }

    static unsafe void Open(string name)
    {
        int file = Native.open(Encoding.UTF8.GetBytes(name + "\0"), 2);
        Notes.All = Native.mmap(null, Notes.Size, 3, 1, file, 0);
        *(long*)Notes.All = 1;
    }

    static void Watch(Gate gate, bool first, bool dies)
    {
        int before;
        do
        {
            before = Notes.Count;
            Thread.Sleep(20);
        } while (!Notes.Settled(before));
        Thread.Sleep(20); // to wait takes a moment more than to say so
        if (Kinds.Many(2) == 0)
            GC.Collect();
        Notes.Write();
        if (first)
            Console.WriteLine("ready");
        if (dies)
            Native.abort();
        Thread.Sleep(100);
        Notes.Clear();
        gate.Release();
    }
}
