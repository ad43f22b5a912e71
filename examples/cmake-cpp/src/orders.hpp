#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shop {

struct Order {
  std::string article;
  int pieces;
  double price;
};

/* The sum of all orders; `sampled` becomes an address within that work, as a profiler would sample it. */
double total(const std::vector<Order> &orders, std::uintptr_t &sampled);

}  // namespace shop
