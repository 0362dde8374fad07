/** A native method that has thrown an exception, and waits before it returns. */
public class Throws {
    static native void hang();

    static void run(String library) {
        System.load(library);
        System.out.println("ready");
        System.out.flush();
        hang();
    }

    public static void main(String[] args) {
        run(args[0]);
    }
}
