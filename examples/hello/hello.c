#include <stdint.h>
#include <stdio.h>

extern const char __executable_start;

/* Where its caller is, as an address of the file: what a profiler or a crash report would give. */
__attribute__((noinline)) static uintptr_t address_of_caller(void) {
  return (uintptr_t)__builtin_return_address(0) - (uintptr_t)&__executable_start - 1;
}

static inline __attribute__((always_inline)) uintptr_t greet(const char *name) {
  uintptr_t here = address_of_caller();
  printf("hello, %s\n", name);
  return here;
}

__attribute__((noinline)) static uintptr_t welcome(int count, char **words) {
  return greet(count > 1 ? words[1] : "world");
}

int main(int count, char **words) {
  printf("0x%lx\n", (unsigned long)welcome(count, words));
  return 0;
}
