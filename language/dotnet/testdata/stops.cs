// csc -unsafe -optimize+ -debug:portable stops.cs (Roslyn) makes stops.dll; -debug:embedded the one in embedded.
//
// Threads run all kinds of methods. At the innermost place each of them writes what .NET says of its
// stack to a file, and works there for a while with many more kinds of methods.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Stops;

static unsafe class Native
{
    [DllImport("libc")] public static extern int open(byte[] path, int flags);
    [DllImport("libc")] public static extern byte* mmap(byte* at, nint size, int protection, int flags, int file, nint offset);
    [DllImport("libc")] public static extern void abort();
    [DllImport("libc")] public static extern long syscall(long number);
    [DllImport("libc")] public static extern void qsort(int* list, nint n, nint size, Compare compare);
    [DllImport("libc")] public static extern void qsort(int* list, nint n, nint size, delegate* unmanaged<int*, int*, int> compare);
    public delegate int Compare(int* a, int* b);
}

// A slot of a thread in the file: a number, which is even while the text is true; the thread's ID;
// the text's length; the text.
static unsafe class Slot
{
    public const int Size = 64 << 10;
    public const int Count = 64;
    public static byte* All;
    public static bool On, Dies;
    static int taken;
    [ThreadStatic] static byte* mine;

    public static void Begin()
    {
        if (!On)
            return;
        if (mine == null)
        {
            mine = All + Math.Min(Interlocked.Increment(ref taken) - 1, Count - 1) * Size;
            *(long*)(mine + 8) = Native.syscall(186);
        }
        Interlocked.Increment(ref *(long*)mine);
        string text = Environment.StackTrace;
        int n = Encoding.UTF8.GetBytes(text, new Span<byte>(mine + 24, Size - 24));
        *(long*)(mine + 16) = n;
        Interlocked.Increment(ref *(long*)mine);
    }

    public static void End()
    {
        if (On)
            *(long*)(mine + 16) = 0;
    }
}

interface IShape { double Area(int n); T Pass<T>(T x); }
abstract class Shape : IShape
{
    public abstract double Area(int n);
    public virtual T Pass<T>(T x) => x;
}
sealed class Square : Shape { public override double Area(int n) => n * 2.5; }
class Circle : Shape
{
    [MethodImpl(MethodImplOptions.NoInlining)] public override double Area(int n) => Math.Sin(n) * n;
    public override T Pass<T>(T x) { GC.KeepAlive(x); return x; }
}
struct Big { public long a, b, c, d, e, f; public Big(long x) { a = x; b = c = d = e = f = x + 1; } public readonly long Sum() => a + b + c + d + e + f; }
class Failed : Exception { public int Code; public Failed(int code) : base("failed " + code) { Code = code; } }

// What a thread does at the innermost place.
static class Work
{
    static readonly IShape[] shapes = { new Square(), new Circle(), new Square() };
    static object sink = new();
    [ThreadStatic] static int depth;

    [MethodImpl(MethodImplOptions.NoInlining)] static Big Add(Big a, Big b) { a.a += b.Sum(); return a; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Leaf(int x) => x ^ x >> 3;
    [MethodImpl(MethodImplOptions.NoInlining)] static int Fib(int n) => n < 2 ? n : Fib(n - 1) + Fib(n - 2);
    [MethodImpl(MethodImplOptions.NoInlining)] static double Many(double a, double b, double c, double d, int e, int f, int g, int h, int i, int j) => a * b - c / d + e + f + g * h + i - j;
    [MethodImpl(MethodImplOptions.NoInlining)] static bool Tail(int n, int m) => n == 0 ? m > 0 : Tail(n - 1, m + Leaf(n));
    [MethodImpl(MethodImplOptions.NoInlining)] static unsafe int Stack(int n) { int* p = stackalloc int[n]; for (int i = 0; i < n; i++) p[i] = i; return p[n / 2] + Leaf(n); }
    [MethodImpl(MethodImplOptions.NoInlining)] static unsafe int Huge(int n) { Blob b = default; b.x[n] = 1; return Leaf(b.x[n / 2]); }
    unsafe struct Blob { public fixed int x[5000]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Throws(int n) { if (n == 0) throw new Failed(7); Throws(n - 1); }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Catches(int n)
    {
        try { Throws(n); return 0; }
        catch (Failed e) when (e.Code == Leaf(e.Code) + e.Code - Leaf(e.Code)) { return Leaf(e.Code); }
        finally { Leaf(n); }
    }
    static IEnumerable<int> Numbers(int n) { for (int i = 0; i < n; i++) yield return Leaf(i); }
    [UnmanagedCallersOnly] static unsafe int Order(int* a, int* b) => Leaf(*a).CompareTo(Leaf(*b));
    static async Task<int> Later(int n) { if (n == 0) return 1; await Task.CompletedTask; return 1 + await Later(n - 1); }

    public const int Kinds = 16;
    public static readonly bool[] Missing = new bool[Kinds]; // programs of one file may lack some

    public static unsafe long Do(int round)
    {
        long sum = 0;
        if (Missing[round % Kinds])
            return sum;
        switch (round % 16)
        {
            case 0: sum += Fib(12); break;
            case 1: foreach (var s in shapes) sum += (long)s.Area(round) + s.Pass(round) + s.Pass("x").Length + (long)s.Pass(2.5); break;
            case 2: foreach (int i in Numbers(20)) sum += i; break;
            case 3: sum += Add(new Big(1), new Big(2)).Sum(); break;
            case 4: sum += (long)Many(1, 2, 3, 4, 5, 6, 7, 8, 9, round); break;
            case 5: sum += Tail(50, 1) ? 1 : 0; break;
            case 6: sum += Stack(100 + round % 7000) + Huge(round % 5000); break;
            case 7: if (round % 64 == 7) sum += Catches(3); break;
            case 8: { var list = new List<Big>(); for (int i = 0; i < 50; i++) list.Add(new Big(i)); list.Sort((a, b) => b.a.CompareTo(a.a)); sum += list[3].a; break; }
            case 9: { var d = new Dictionary<string, int>(); for (int i = 0; i < 30; i++) d["k" + i] = i; foreach (var p in d) sum += p.Value; break; }
            case 10: { int k = round; Func<int, int> f = x => Leaf(x + k); f += x => x; for (int i = 0; i < 20; i++) sum += f(i); break; }
            case 11: { int* p = stackalloc int[40]; for (int i = 0; i < 40; i++) p[i] = Leaf(i * 7919); Native.qsort(p, 40, 4, &Order); sum += p[5]; break; }
            case 12: { int* p = stackalloc int[20]; for (int i = 0; i < 20; i++) p[i] = Leaf(i * 7919); Native.qsort(p, 20, 4, (a, b) => *a - *b); sum += p[5]; break; }
            case 13: { var o = new object[100]; for (int i = 0; i < 100; i++) o[i] = new Failed(i); sink = o; break; }
            case 14: sum += Later(5).Result; break;
            case 15: lock (sink) { for (int i = 0; i < 200; i++) sum += Leaf(i); } sum += string.Format("{0} {1:x}", round, sum).Length; break;
        }
        return sum;
    }
}

static class Deep
{
    static readonly int Rounds = 200;
    static int next;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Deepest()
    {
        Slot.Begin();
        if (Slot.Dies)
            Native.abort();
        long sum = 0;
        int from = Interlocked.Add(ref next, Rounds + 3);
        for (int i = 0; i < Rounds; i++) sum += Work.Do(from + i);
        Slot.End();
        return (int)sum;
    }
}

class Cart<T>
{
    readonly List<T> items = new();
    public int Count { [MethodImpl(MethodImplOptions.NoInlining)] get { return Deep.Deepest() + items.Count; } }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public int Add<U>(T item, U more, int n)
    {
        if (n > 0)
            return Add(item, more, n - 1)
                + 1;
        items.Add(item);
        return new Piece<U>().Weigh(more);
    }
    public class Piece<U>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Weigh(U x)
        {
            int Local(int y)
            {
                return Deep.Deepest() + y;
            }
            return Local(x == null ? 1 : 2);
        }
    }
    public static int operator +(Cart<T> a, Cart<T> b) { return a.Count + b.items.Count; }
    public int this[int i] { get { return Deep.Deepest() + i; } }
}

class Once
{
    public static int Value = First();
    static int First() { return Deep.Deepest(); }
}

class Once<T>
{
    public static readonly int Value;
    static Once() { Value = Deep.Deepest(); }
}

interface IRuns { int Run(); }
class Runs : IRuns { int IRuns.Run() { return Deep.Deepest(); } }
struct Small : IRuns { int x; public int Run() { x++; return Deep.Deepest() + x; } }

static class Kinds
{
    [MethodImpl(MethodImplOptions.NoInlining)] static void Fails(int n) { if (n == 0) throw new Failed(1); Fails(n - 1); }

    public static int InCatch()
    {
        try
        {
            Fails(3);
        }
        catch (Failed)
        {
            return Deep.Deepest();
        }
        return 0;
    }

    public static int InFinally()
    {
        int n = 0;
        try
        {
            try { Fails(2); }
            finally
            {
                n = Deep.Deepest();
            }
        }
        catch (Failed) { }
        return n;
    }

    public static int InFilter()
    {
        try { Fails(2); }
        catch (Failed) when (Deep.Deepest() != 0x12345) { return 1; }
        return 0;
    }

    public static int Nested()
    {
        try { Fails(1); }
        catch (Failed)
        {
            try { Fails(2); }
            catch (Failed)
            {
                return InCatch() + Deep.Deepest();
            }
        }
        return 0;
    }

    public static int Rethrows()
    {
        ExceptionDispatchInfo info = null;
        try { Fails(1); } catch (Failed e) { info = ExceptionDispatchInfo.Capture(e); }
        try { info.Throw(); }
        catch (Failed)
        {
            return Deep.Deepest();
        }
        return 0;
    }

    [UnmanagedCallersOnly] static unsafe int Called(int* a, int* b) { if (*a == 1 && *b == 2 || *a == 2 && *b == 1) Deep.Deepest(); return *a - *b; }

    public static unsafe int Unmanaged()
    {
        int* p = stackalloc int[2];
        p[0] = 2; p[1] = 1;
        Native.qsort(p, 2, 4, &Called);
        return p[0];
    }

    public static unsafe int Callback()
    {
        int* p = stackalloc int[2];
        p[0] = 2; p[1] = 1;
        Native.qsort(p, 2, 4, (a, b) =>
        {
            Deep.Deepest();
            return *a - *b;
        });
        return p[0];
    }

    public static int Closure()
    {
        int n = 3;
        Func<int> inner = () => Deep.Deepest() + n;
        Func<Func<int>, int> outer = f =>
        {
            n++;
            return f();
        };
        return outer(inner);
    }

    static IEnumerable<int> Numbers(int n)
    {
        for (int i = 0; i < n; i++)
        {
            yield return i;
            Deep.Deepest();
        }
    }

    public static int Iterator()
    {
        int sum = 0;
        foreach (int i in Numbers(2))
            sum += i;
        return sum;
    }

    static async Task<int> Waits(int n)
    {
        if (n == 0)
            return Deep.Deepest();
        int got = await Waits(n - 1);
        await Task.Yield();
        return Deep.Deepest() + got;
    }

    static async Task<T> WaitsFor<T>(T x) { await Task.Yield(); Deep.Deepest(); return x; }

    public static int Async() => Waits(2).GetAwaiter().GetResult() + WaitsFor("x").GetAwaiter().GetResult().Length;

    public static int Multicast()
    {
        Func<int> f = Static;
        f += new Kept { n = 3 }.Instance;
        return f();
    }
    static int Static() { return Deep.Deepest(); }
    class Kept { public int n; public int Instance() { return Deep.Deepest() + n; } }

    public static int Long(int rounds)
    {
        int sum = 0;
        for (int i = 0; i < rounds; i++)
        {
            sum += i * 7 % 3;
            if (i == rounds - 1)
                sum += Deep.Deepest();
        }
        return sum;
    }

    public static int Optional(int a = 1, string b = null, params object[] more)
    {
        using var x = new CancellationTokenSource();
        lock (x)
        {
            return Deep.Deepest() + a + more.Length;
        }
    }

    public static int Sorted()
    {
        var list = new List<int> { 2, 1 };
        list.Sort((a, b) => { Deep.Deepest(); return a - b; });
        return list[0];
    }

    public static unsafe int Stack(int n)
    {
        int* p = stackalloc int[n];
        p[n - 1] = 1;
        return Deep.Deepest() + p[n - 1];
    }

    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    public static int Optimized(int n)
    {
        return n == 0 ? Deep.Deepest() : Optimized(n - 1) + n;
    }
}

static class Program
{
    const int Count = 24;

    // Runs each kind once, and notes which ones lack something.
    static bool[] Probe(int count, Action<int> run)
    {
        var missing = new bool[count];
        for (int i = 0; i < count; i++)
        {
            try { run(i); }
            catch (Exception e) when (e is MissingMemberException or TypeLoadException or System.IO.FileNotFoundException) { missing[i] = true; }
        }
        return missing;
    }

    static int Kind(int i) => (i % 24) switch
    {
        0 => new Cart<string>().Add("x", 5, i % 30),
        1 => new Cart<int>().Add(1, "y", 3) + new Cart<Big>().Add(new Big(1), 2.5, 1),
        2 => new Cart<object>() + new Cart<object>(),
        3 => new Cart<long>()[3],
        4 => Once.Value + Once<int>.Value + Once<string>.Value,
        5 => ((IRuns)new Runs()).Run() + ((IRuns)new Small()).Run(),
        6 => Kinds.InCatch(),
        7 => Kinds.InFinally(),
        8 => Kinds.InFilter(),
        9 => Kinds.Nested(),
        10 => Kinds.Rethrows(),
        11 => Kinds.Unmanaged(),
        12 => Kinds.Callback(),
        13 => Kinds.Closure(),
        14 => Kinds.Iterator(),
        15 => Kinds.Async(),
        16 => Kinds.Multicast(),
        17 => Kinds.Long(100_000),
        18 => Kinds.Optional(2, "x", 1, 2),
        19 => Kinds.Sorted(),
        20 => Kinds.Stack(10 + i % 5000),
        21 => Kinds.Optimized(i % 9),
        22 => new Cart<(int, string)>().Add((1, "x"), new Big(2), 2),
        _ => new Dictionary<Big, Cart<Big>> { [new Big(1)] = new Cart<Big>() }[new Big(1)].Count,
    };

    static unsafe int Main(string[] args)
    {
        int file = Native.open(Encoding.UTF8.GetBytes(args[0] + "\0"), 2);
        int threads = int.Parse(args[1]);
        Slot.All = Native.mmap(null, Slot.Count * Slot.Size, 3, 1, file, 0);
        Probe(Work.Kinds, i => Work.Do(i)).CopyTo(Work.Missing, 0);
        bool[] missing = Probe(Count, i => Kind(i));
        Slot.On = true;
        for (int i = 0; i < threads; i++)
        {
            int slot = i;
            new Thread(() =>
            {
                for (int n = slot * 5; ; n++)
                    if (!missing[n % Count])
                        Kind(n);
            }) { IsBackground = true, Name = "worker " + i }.Start();
        }
        Console.WriteLine("ready");
        Slot.Dies = args.Length > 2;
        Thread.Sleep(-1);
        return 0;
    }
}
