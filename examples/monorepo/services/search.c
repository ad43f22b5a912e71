#include "service.h"

__attribute__((noinline)) static uintptr_t rank(int count) {
  uintptr_t here = address_of_caller();  // the sampled line
  printf("search: %d\n", count * 30);
  return here;
}

int main(int count, char **words) {
  (void)words;
  printf("%#lx\n", (unsigned long)rank(count));
  return 0;
}
