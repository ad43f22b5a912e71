#include "orders.hpp"

#include <dlfcn.h>

namespace shop {

/* Where its caller is, as an address of the file that holds it. */
__attribute__((noinline)) static std::uintptr_t address_of_caller() {
  const void *caller = __builtin_return_address(0);
  Dl_info info;
  return dladdr(caller, &info) ? (std::uintptr_t)caller - (std::uintptr_t)info.dli_fbase - 1 : 0;
}

static inline __attribute__((always_inline)) double price_of(const Order &order, std::uintptr_t &sampled) {
  sampled = address_of_caller();  // the sampled line
  return order.pieces * order.price;
}

__attribute__((noinline)) double total(const std::vector<Order> &orders, std::uintptr_t &sampled) {
  double sum = 0;
  for (const Order &order : orders) sum += price_of(order, sampled);
  return sum;
}

}  // namespace shop
