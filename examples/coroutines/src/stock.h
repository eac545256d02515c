// The shelves, which one strand takes care of.
#pragma once

#include <vector>

class Stock {
 public:
  Stock();

  /// Takes one of an item. Returns how many are left of it.
  int take(int item);

 private:
  void compact_shelf(std::vector<int>& shelf);

  std::vector<std::vector<int>> shelves_;
};
