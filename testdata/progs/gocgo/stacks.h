int stacks_arrived(void);
int stack_outer(int n);
int stack_calls_go(int n);
int stack_raises(int n);
void stacks_start_thread(int n);
void stacks_handle_usr2(void);
