void c_outer(int n);
void c_thread(void);
