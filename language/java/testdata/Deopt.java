import java.util.concurrent.locks.LockSupport;

/**
 * Compiled frames of which what the compiler has assumed ends to hold: that no class overrides the
 * method. A class that does so is loaded when a line is read.
 */
public class Deopt {
    static class Base {
        int end(int n, boolean stop) {
            if (stop) {
                System.out.println("ready");
                while (true) {
                    LockSupport.park();
                }
            }
            return n * 3;
        }
    }

    static class Derived extends Base {
        @Override
        int end(int n, boolean stop) {
            return n;
        }
    }

    static int deep(Base b, int depth, boolean stop) {
        return depth == 0 ? b.end(depth, stop) : middle(b, depth, stop) + 1;
    }

    static int middle(Base b, int depth, boolean stop) {
        int x = depth % 3 == 0 ? b.end(depth, false) : 7; // so that the method depends on what is loaded
        return x + deep(b, depth - 1, stop);
    }

    public static void main(String[] args) throws Exception {
        Base b = new Base();
        int sum = 0;
        for (int i = 0; i < 20000; i++) {
            sum += deep(b, i % 30, false);
        }
        Thread t = new Thread(() -> deep(b, 30, true), "deep");
        t.setDaemon(true);
        t.start();
        System.in.read();
        System.out.println(sum + new Derived().end(1, false) > 0 ? "loaded" : "");
        System.in.read();
        System.in.read();
    }
}
