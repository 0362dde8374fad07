import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Threads that are busy in many ways, for ever. */
public class Busy {
    interface Work { long once(int n) throws Throwable; }

    static volatile long sum;
    static final Object LOCK = new Object();

    static native int back(IntUnaryOperator task, int n);

    // Recursion, in a class hierarchy whose calls cannot be inlined for ever.
    static abstract class Node {
        Node left, right;
        abstract long value(long v);
        long visit(long v) {
            long x = value(v);
            if (left != null) {
                x += left.visit(x);
            }
            if (right != null) {
                x ^= right.visit(x);
            }
            return x;
        }
    }

    static class Add extends Node { long value(long v) { return v + 7; } }
    static class Mul extends Node { long value(long v) { return v * 31; } }
    static class Mod extends Node { long value(long v) { return v == Long.MIN_VALUE ? 1 : v % 1021; } }

    static Node tree(int depth, Random r) {
        if (depth == 0) {
            return null;
        }
        Node n = switch (r.nextInt(3)) {
            case 0 -> new Add();
            case 1 -> new Mul();
            default -> new Mod();
        };
        n.left = tree(depth - 1 - r.nextInt(2) % depth, r);
        n.right = tree(depth - 1, r);
        return n;
    }

    static long ackermann(long m, long n) {
        return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
    }

    static long many(int a, long b, double c, int d, long e, double f, int g, long h, float i, int j, Object k) {
        if (a <= 0) {
            return b + (long) c + d + e + (long) f + g + h + (long) i + j + k.hashCode();
        }
        return many(a - 1, b + a, c * 1.5, d ^ a, e - a, f / 1.5, g + d, h + g, i + 1, j * 3, k) + j;
    }

    static long streams(int n) {
        List<Integer> all = IntStream.range(0, 300).boxed().sorted((x, y) -> Integer.compare(y * 7 % 31, x * 7 % 31)).collect(Collectors.toList());
        Map<Integer, Long> groups = all.stream().filter(x -> x % 3 != n % 3).collect(Collectors.groupingBy(x -> x % 10, TreeMap::new, Collectors.counting()));
        return groups.values().stream().mapToLong(x -> x).sum() + all.stream().flatMap(x -> IntStream.range(0, x % 5).boxed()).mapToInt(x -> x).sum();
    }

    static int fails(int depth, int n) {
        try {
            if (depth == 0) {
                if (n % 4 == 0) {
                    Object o = n;
                    return ((String) o).length();
                } else if (n % 4 == 1) {
                    return new int[3][n % 2 + 3].length / (n % 4 - 1);
                } else if (n % 4 == 2) {
                    return new int[2][n % 5 + 2].length + ((int[]) null).length;
                }
                throw new IllegalStateException("at " + n);
            }
            return fails(depth - 1, n) + 1;
        } catch (IllegalStateException | ArithmeticException e) {
            if (depth % 3 == 1) {
                return e.getStackTrace().length;
            }
            throw e;
        } finally {
            sum += depth;
        }
    }

    static long exceptions(int n) {
        try {
            return fails(n % 20 + 2, n);
        } catch (RuntimeException e) {
            return e.hashCode();
        }
    }

    static long texts(int n) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < 50; i++) {
            b.append("value " + i + " of " + n + ' ' + (i * 0.5) + (i % 2 == 0) + (char) ('a' + i % 26)).append(';');
        }
        String s = b.toString();
        return s.split(";").length + s.toUpperCase().indexOf("Z") + Pattern.compile("(\\d+|of)+ [a-z]*").matcher(s).results().count()
            + String.format("%d %s %.3f", n, s.substring(3, 9), n * 0.1).hashCode();
    }

    static long callbacks(int n) {
        return n <= 0 ? 1 : back(x -> back(y -> (int) callbacks(y - 1), x) + x, n % 7);
    }

    static long locks(int n) {
        long x = 0;
        for (int i = 0; i < 200; i++) {
            synchronized (LOCK) {
                x += shared(i + n);
            }
        }
        return x;
    }

    static synchronized long shared(int n) {
        return sum += n * 31L;
    }

    static byte[] code(String name) throws Exception {
        try (InputStream in = Busy.class.getResourceAsStream(name + ".class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            in.transferTo(out);
            return out.toByteArray();
        }
    }

    /** A class that is loaded anew, used and let go of. */
    public static class Loaded {
        public static long work(Object by) {
            long x = 0;
            for (int i = 0; i < 3000; i++) {
                x += step(i, by);
            }
            return x;
        }

        static long step(int i, Object by) {
            return i % 100 == 0 ? by.hashCode() + String.valueOf(i).length() : i * 3L;
        }
    }

    static long classes(int n) throws Throwable {
        byte[] code = code("Busy$Loaded");
        ClassLoader loader = new ClassLoader(null) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                return defineClass(name, code, 0, code.length);
            }
        };
        Method m = loader.loadClass("Busy$Loaded").getMethod("work", Object.class);
        long x = 0;
        for (int i = 0; i < 40; i++) {
            x += (Long) m.invoke(null, "by");
        }
        return x;
    }

    static long garbage(int n) {
        Map<String, byte[][]> all = new HashMap<>();
        for (int i = 0; i < 60; i++) {
            byte[][] b = new byte[n % 17 + 3][];
            for (int j = 0; j < b.length; j++) {
                b[j] = new byte[1000 + i * j];
            }
            all.put("k" + i, b);
        }
        List<Object> chain = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            chain.add(new Object[] {chain.isEmpty() ? null : chain.get(i / 2), i});
        }
        return all.size() + chain.size();
    }

    // What a compiler has assumed ends to hold, again and again.
    interface Shape { double area(double x); }

    static Shape shape(int kind) {
        return switch (kind) {
            case 0 -> x -> x * x;
            case 1 -> x -> x * 3.14;
            case 2 -> x -> x / 2 + Math.sqrt(x);
            default -> new Shape() {
                public double area(double x) {
                    return kind + x;
                }
            };
        };
    }

    static double total(Shape[] shapes, int n) {
        double x = 0;
        for (int i = 0; i < n; i++) {
            x += inner(shapes[i % shapes.length], i);
        }
        return x;
    }

    static double inner(Shape s, int i) {
        double a = s.area(i);
        if (a < -1e300) {
            throw new IllegalStateException();
        }
        return a;
    }

    static long storms(int n) {
        Shape[] one = new Shape[4];
        Arrays.fill(one, shape(0));
        double x = 0;
        for (int i = 0; i < 30; i++) {
            x += total(one, 3000);
            one[i % 4] = shape((i + n) % 7);
            Object o = i % 9 == 8 ? (Object) "s" : (Object) i;
            x += o instanceof String s ? s.length() : o.hashCode();
        }
        return (long) x;
    }

    static long arrays(int n) {
        long[] a = new long[2000];
        for (int i = 0; i < a.length; i++) {
            a[i] = (i * 1103515245L + n) % 10007;
        }
        long[] b = a.clone();
        Arrays.sort(b);
        System.arraycopy(b, 10, a, 0, 500);
        return Arrays.hashCode(a) + Arrays.binarySearch(b, 77) + Arrays.stream(a).filter(v -> v > 5000).count();
    }

    static final AtomicLong COUNT = new AtomicLong();

    static long calls(int n) throws Throwable {
        Method m = Busy.class.getDeclaredMethod("shared", int.class);
        long x = 0;
        for (int i = 0; i < 300; i++) {
            x += (Long) m.invoke(null, i) + COUNT.incrementAndGet() + System.nanoTime() + System.identityHashCode(m) + Thread.currentThread().getName().length();
        }
        return x + Math.round(Math.sin(n) * 100 + Math.pow(1.01, n % 100));
    }

    // Two threads run at a time, so that the machine is not more busy than it must be.
    static final Semaphore TURN = new Semaphore(2, true);

    static void loop(Work w) {
        for (int i = 0;;) {
            TURN.acquireUninterruptibly();
            try {
                for (long end = System.nanoTime() + 3_000_000; System.nanoTime() < end; i++) {
                    sum += w.once(i);
                }
            } catch (Throwable e) {
                throw new AssertionError(e);
            } finally {
                TURN.release();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Node root = tree(11, new Random(1));
        Work[] all = {
            n -> root.visit(n), n -> ackermann(2, n % 9), n -> many(n % 40, n, n, n, n, n, n, n, n, n, "k"), Busy::streams, Busy::exceptions,
            Busy::texts, Busy::callbacks, Busy::locks, Busy::locks, Busy::classes, Busy::garbage, Busy::storms, Busy::arrays, Busy::calls,
        };
        for (int i = 0; i < all.length; i++) {
            Work w = all[i];
            new Thread(() -> loop(w), "busy " + i).start();
        }
        System.out.println("ready");
    }
}
