#include <unistd.h>

/* The functions of JNI are in a table. FindClass and ThrowNew have these places in it. */
typedef void *const *const *Environment;
enum { FindClass = 6, ThrowNew = 14 };

void Java_Throws_hang(Environment env, void *class)
{
    void *(*find)(Environment, const char *) = (*env)[FindClass];
    int (*throw)(Environment, void *, const char *) = (*env)[ThrowNew];
    throw(env, find(env, "java/lang/IllegalStateException"), "no such key");
    pause();
}
