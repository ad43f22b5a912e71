#include "service.h"

__attribute__((noinline)) static uintptr_t invoice(int count) {
  uintptr_t here = address_of_caller();  // the sampled line
  printf("billing: %d\n", count * 12);
  return here;
}

int main(int count, char **words) {
  (void)words;
  printf("%#lx\n", (unsigned long)invoice(count));
  return 0;
}
