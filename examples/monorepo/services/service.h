#pragma once
#include <stdint.h>
#include <stdio.h>

extern const char __executable_start;

/* Where its caller is, as an address of the file. */
__attribute__((noinline)) static uintptr_t address_of_caller(void) {
  return (uintptr_t)__builtin_return_address(0) - (uintptr_t)&__executable_start - 1;
}
