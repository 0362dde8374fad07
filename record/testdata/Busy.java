/** Threads that compute, each in methods of its own, and one that makes classes which come and go. */
public class Busy {
    static volatile long sink;

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int even(int n) {
        return n == 0 ? 1 : odd(n - 1);
    }

    static int odd(int n) {
        return n == 0 ? 0 : even(n - 1);
    }

    static void one() {
        for (;;) {
            sink += fib(18);
        }
    }

    static void other() {
        for (;;) {
            sink += even(100);
        }
    }

    /** Runs a method of a class that nobody keeps, so that its code is unloaded. */
    static void gone() {
        try {
            byte[] file = Busy.class.getResourceAsStream("Brief.class").readAllBytes();
            for (;;) {
                Class<?> c = new ClassLoader(null) {
                    Class<?> made() {
                        return defineClass("Brief", file, 0, file.length);
                    }
                }.made();
                sink += (Integer) c.getMethod("run").invoke(null);
            }
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] args) {
        new Thread(Busy::one, "one").start();
        new Thread(Busy::other, "other").start();
        new Thread(Busy::gone, "gone").start();
        System.out.println("ready");
    }
}
