#include <cstdio>

#include "orders.hpp"

int main() {
  std::uintptr_t sampled = 0;
  double sum = shop::total({{"tea", 3, 4.5}, {"bread", 2, 3.25}}, sampled);
  std::printf("%.2f\n%#lx\n", sum, (unsigned long)sampled);
  return 0;
}
