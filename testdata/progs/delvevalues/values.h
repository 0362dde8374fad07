/* The C and C++ halves of delvevalues: see main.go. */
#ifndef VALUES_H
#define VALUES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Each blocks in pause(2), in frames whose variables the source tells. */
void c_waits(int n);       /* c_waits > c_inner > cxx_waits > ns::holder<int>::waits > c_ends > pause */
long c_calls_back(long n); /* c_calls_back > goBack */
void c_ends(long n);       /* c_ends > pause */
int c_waiting(void);       /* how many are in pause, or about to be */
/* Calls goTurn with 1, 2, ... and its square, for ever. */
void c_turns(void);

void cxx_waits(int n);
extern void goBack(long n);
extern void goTurn(int turn);

#ifdef __cplusplus
}
#endif

#endif
