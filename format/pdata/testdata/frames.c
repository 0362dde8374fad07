#include <stdlib.h>
#include <string.h>
#include <stdio.h>
volatile int sink;

__attribute__((noinline))
int leaf(int a){ return a*3+1; }

__attribute__((noinline))
int small(int a,int b){ int r=leaf(a)+b; sink=r; return leaf(r)+r; }

__attribute__((noinline))
int big(int n){ char buf[100000]; memset(buf,n,sizeof buf); sink=buf[n]; return small(n,buf[3]); }

__attribute__((noinline))
int var(int n){ char *p=__builtin_alloca(n+16); memset(p,1,n); sink=p[n/2]; return small(n,p[1])+leaf(n); }

__attribute__((noinline))
double fl(double a,double b,double c,double d,double e,double f){ double x=a*b; for(int i=0;i<sink+2;i++){ x=x*c+d; printf("%f\n",x); a+=e; b*=f; } return a+b+c+d+e+f+x; }

__attribute__((noinline))
int many(int a,int b,int c,int d,int e,int f,int g,int h){ int s=a; for(int i=0;i<3;i++){ s+=small(a+i,b)*small(c,d)+small(e,f)*small(g,h+s); } return s; }

__attribute__((noinline))
int tail(int a){ sink=small(a,1); return small(sink,2); }

__attribute__((noinline))
int rec(int n){ if(n<=0) return small(1,2); return rec(n-1)+n; }
int main(int argc,char**argv){ int n=argc*3; return (int)(big(n)+var(n)+many(1,2,3,4,5,6,7,n)+tail(n)+rec(n)+fl(1,2,3,4,5,n))&1; }
