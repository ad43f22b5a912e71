#include "service.h"

__attribute__((noinline)) static uintptr_t greet(int count) {
  uintptr_t here = address_of_caller();  // the sampled line
  printf("users: %d\n", count * 7);
  return here;
}

int main(int count, char **words) {
  (void)words;
  printf("%#lx\n", (unsigned long)greet(count));
  return 0;
}
