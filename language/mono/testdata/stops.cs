// mcs -unsafe -optimize+ -debug stops.cs makes stops.exe and stops.exe.mdb.
//
// Threads run all kinds of methods. At the innermost place each of them writes what Mono says of its
// stack to a file, and works there for a while.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Stops
{
    static unsafe class Native
    {
        [DllImport("libc")] public static extern int open(byte[] path, int flags);
        [DllImport("libc")] public static extern byte* mmap(byte* at, IntPtr size, int protection, int flags, int file, IntPtr offset);
        [DllImport("libc")] public static extern long syscall(long number);
        [DllImport("libc")] public static extern void abort();
        [DllImport("libc")] public static extern void qsort(int* list, IntPtr n, IntPtr size, Compare compare);
        public delegate int Compare(int* a, int* b);

        // Mono's own functions.
        [DllImport("__Internal")] public static extern void mono_stack_walk(Walk each, IntPtr data);
        [DllImport("__Internal")] public static extern IntPtr mono_debug_print_stack_frame(IntPtr method, int offset, IntPtr domain);
        [DllImport("__Internal")] public static extern IntPtr mono_get_root_domain();
        [DllImport("__Internal")] public static extern void mono_free(IntPtr p);
        public delegate int Walk(IntPtr method, int offset, int il, int managed, IntPtr data);
    }

    // What Mono says of the code of each frame, a line each, the innermost first.
    static class Trace
    {
        const int Most = 256;
        static readonly Native.Walk each = Each;
        [ThreadStatic] static IntPtr[] methods;
        [ThreadStatic] static int[] offsets;
        [ThreadStatic] static int count;

        static int Each(IntPtr method, int offset, int il, int managed, IntPtr data)
        {
            if (managed != 0 && count < Most) { methods[count] = method; offsets[count++] = offset; }
            return 0;
        }

        public static string Text()
        {
            if (methods == null) { methods = new IntPtr[Most]; offsets = new int[Most]; }
            count = 0;
            Native.mono_stack_walk(each, IntPtr.Zero);
            var text = new StringBuilder();
            for (int i = 0; i < count; i++)
            {
                IntPtr line = Native.mono_debug_print_stack_frame(methods[i], offsets[i], Native.mono_get_root_domain());
                text.Append(Marshal.PtrToStringAnsi(line)).Append('\n');
                Native.mono_free(line);
            }
            return text.ToString();
        }
    }

    // A slot of a thread in the file: a number, which is even while the text is true; the thread's ID;
    // the text's length; the text.
    static unsafe class Slot
    {
        public const int Size = 64 << 10;
        public const int Count = 64;
        public static byte* All;
        public static bool Dies, Tells;
        static int taken;
        [ThreadStatic] static byte* mine;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Begin()
        {
            if (mine == null)
            {
                mine = All + Math.Min(Interlocked.Increment(ref taken) - 1, Count - 1) * Size;
                *(long*)(mine + 8) = Native.syscall(186);
            }
            Interlocked.Increment(ref *(long*)mine);
            byte[] text = Encoding.UTF8.GetBytes(Environment.StackTrace + (Tells ? "\n--\n" + Trace.Text() : ""));
            Marshal.Copy(text, 0, (IntPtr)(mine + 24), text.Length);
            *(long*)(mine + 16) = text.Length;
            Interlocked.Increment(ref *(long*)mine);
        }

        public static void End() { *(long*)(mine + 16) = 0; }
    }

    class Failed : Exception { public int Code; public Failed(int code) { Code = code; } }

    abstract class Shape { public abstract double Area(int n); }
    sealed class Square : Shape { [MethodImpl(MethodImplOptions.NoInlining)] public override double Area(int n) { return n * 2.5; } }
    class Circle : Shape { [MethodImpl(MethodImplOptions.NoInlining)] public override double Area(int n) { return Math.Sin(n) * n; } }

    // What a thread does at the innermost place.
    static class Work
    {
        static readonly Shape[] shapes = { new Square(), new Circle() };
        static object sink;

        [MethodImpl(MethodImplOptions.NoInlining)] static int Leaf(int x) { return x ^ x >> 3; }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }
        [MethodImpl(MethodImplOptions.NoInlining)] static double Many(double a, double b, double c, double d, int e, int f, int g, int h, int i, int j) { return a * b - c / d + e + f + g * h + i - j; }
        [MethodImpl(MethodImplOptions.NoInlining)] static unsafe int Stack(int n) { int* p = stackalloc int[n]; for (int i = 0; i < n; i++) p[i] = i; return p[n / 2] + Leaf(n); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Throws(int n) { if (n == 0) throw new Failed(7); Throws(n - 1); }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Catches(int n) { try { Throws(n); return 0; } catch (Failed e) { return Leaf(e.Code); } finally { Leaf(n); } }
        static IEnumerable<int> Numbers(int n) { for (int i = 0; i < n; i++) yield return Leaf(i); }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static unsafe long Do(int round)
        {
            long sum = 0;
            switch (round % 9)
            {
                case 0: sum += Fib(14); break;
                case 1: foreach (var s in shapes) sum += (long)s.Area(round); break;
                case 2: foreach (int i in Numbers(20)) sum += i; break;
                case 3: sum += (long)Many(1, 2, 3, 4, 5, 6, 7, 8, 9, round); break;
                case 4: sum += Stack(100 + round % 7000); break;
                case 5: if (round % 27 == 5) sum += Catches(3); break;
                case 6: { var d = new Dictionary<string, int>(); for (int i = 0; i < 30; i++) d["k" + i] = i; foreach (var p in d) sum += p.Value; break; }
                case 7: { int k = round; Func<int, int> f = x => Leaf(x + k); for (int i = 0; i < 20; i++) sum += f(i); break; }
                case 8: { var o = new object[100]; for (int i = 0; i < 100; i++) o[i] = new Failed(i); sink = o; break; }
            }
            return sum;
        }
    }

    static class Deep
    {
        static int next;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Deepest()
        {
            Slot.Begin();
            if (Slot.Dies)
                Native.abort();
            long sum = 0;
            int from = Interlocked.Add(ref next, 203);
            for (int i = 0; i < 200; i++) sum += Work.Do(from + i);
            Slot.End();
            return (int)sum;
        }
    }

    class Cart<T>
    {
        readonly List<T> items = new List<T>();
        public int Count { [MethodImpl(MethodImplOptions.NoInlining)] get { return Deep.Deepest() + items.Count; } }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Add<U>(T item, U more, int n)
        {
            if (n > 0)
                return Add(item, more, n - 1) + 1;
            items.Add(item);
            return new Piece<U>().Weigh(more) + 1;
        }

        public class Piece<U>
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            public int Weigh(U x) { return Deep.Deepest() + 1; }
        }
    }

    class Once { public static int Value = First(); [MethodImpl(MethodImplOptions.NoInlining)] static int First() { return Deep.Deepest() + 1; } }

    interface IRuns { int Run(); }
    class Runs : IRuns { [MethodImpl(MethodImplOptions.NoInlining)] int IRuns.Run() { return Deep.Deepest() + 1; } }
    struct Small : IRuns { int x; [MethodImpl(MethodImplOptions.NoInlining)] public int Run() { x++; return Deep.Deepest() + x; } }

    static class Kinds
    {
        [MethodImpl(MethodImplOptions.NoInlining)] static void Fails(int n) { if (n == 0) throw new Failed(1); Fails(n - 1); }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int InCatch() { try { Fails(3); } catch (Failed) { return Deep.Deepest() + 1; } return 0; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int InFinally()
        {
            int n = 0;
            try { try { Fails(2); } finally { n = Deep.Deepest() + 1; } }
            catch (Failed) { }
            return n;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static unsafe int Callback()
        {
            int* p = stackalloc int[2];
            p[0] = 2; p[1] = 1;
            Native.qsort(p, (IntPtr)2, (IntPtr)4, (a, b) => { int n = Deep.Deepest(); return n > *a - *b ? 1 : -1; });
            return p[0];
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Closure() { int n = 3; Func<int> inner = () => Deep.Deepest() + n; Func<Func<int>, int> outer = f => { n++; return f() + 1; }; return outer(inner) + 1; }

        static IEnumerable<int> Numbers(int n) { for (int i = 0; i < n; i++) { yield return i; Deep.Deepest(); } }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Iterator() { int sum = 0; foreach (int i in Numbers(2)) sum += i; return sum; }

        static async Task<int> Waits(int n) { if (n == 0) return Deep.Deepest() + 1; int got = await Waits(n - 1); return Deep.Deepest() + got; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Sorted() { var list = new List<int> { 2, 1 }; list.Sort((a, b) => { int n = Deep.Deepest(); return a - b + n % 1; }); return list[0]; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Locked(object x) { lock (x) return Deep.Deepest() + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Run(int i)
        {
            switch (i % 12)
            {
                case 0: return new Cart<string>().Add("x", 5, i % 30) + 1;
                case 1: return new Cart<int>().Add(1, "y", 3) + new Cart<double>().Add(1, 2.5, 1);
                case 2: return new Cart<object>().Count + 1;
                case 3: return Once.Value + 1;
                case 4: return ((IRuns)new Runs()).Run() + ((IRuns)new Small()).Run();
                case 5: return InCatch() + 1;
                case 6: return InFinally() + 1;
                case 7: return Callback() + 1;
                case 8: return Closure() + 1;
                case 9: return Iterator() + 1;
                case 10: return Waits(2).Result + Locked(new object());
                default: return Sorted() + 1;
            }
        }
    }

    static class Program
    {
        static unsafe int Main(string[] args)
        {
            int file = Native.open(Encoding.UTF8.GetBytes(args[0] + "\0"), 2);
            int threads = int.Parse(args[1]);
            Slot.Tells = args.Length > 2 && args[2] == "offsets"; // with MONO_THREADS_SUSPEND=preemptive
            Slot.All = Native.mmap(null, (IntPtr)(Slot.Count * Slot.Size), 3, 1, file, IntPtr.Zero);
            // First one thread alone compiles everything: of a method that two threads compile at once,
            // Mono may keep one's code, and the other's lines.
            for (int i = 0; i < 12; i++)
                Kinds.Run(i);
            for (int i = 0; i < threads; i++)
            {
                int slot = i;
                new Thread(() => { for (int n = slot * 5; ; n++) Kinds.Run(n); }) { IsBackground = true }.Start();
            }
            Console.WriteLine("ready");
            Slot.Dies = args.Length > 2 && args[2] == "die";
            Thread.Sleep(-1);
            return 0;
        }
    }
}
