import java.lang.reflect.Field;
import sun.misc.Unsafe;

/** Writes where nothing is, so that the virtual machine dies. */
public class Crash {
    static void write(Unsafe memory, long address, String why) {
        memory.putAddress(address, why.length());
    }

    public static void main(String[] args) throws Exception {
        Field f = Unsafe.class.getDeclaredField("theUnsafe");
        f.setAccessible(true);
        write((Unsafe) f.get(null), 0, "as \"asked\"");
    }
}
