#include "rewrite/text/edits.h"

#include <algorithm>
#include <numeric>

namespace vprof::instrumenter {
namespace {

/// Outer ranges before inner ones; empty ranges at an offset before ranges that begin there.
std::vector<size_t> outer_first(const std::vector<Edit>& edits) {
  std::vector<size_t> order(edits.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (edits[a].begin != edits[b].begin) {
      return edits[a].begin < edits[b].begin;
    }
    const bool a_empty = edits[a].begin == edits[a].end;
    const bool b_empty = edits[b].begin == edits[b].end;
    if (a_empty || b_empty) {
      return a_empty && !b_empty;
    }
    return edits[a].end > edits[b].end;
  });
  return order;
}

}  // namespace

std::vector<size_t> overlapping(const std::vector<Edit>& edits) {
  std::vector<size_t> bad;
  std::vector<uint32_t> open;  // ends of the ranges around the current offset
  for (const size_t i : outer_first(edits)) {
    while (!open.empty() && open.back() <= edits[i].begin) {
      open.pop_back();
    }
    if (edits[i].begin == edits[i].end) {
      continue;
    }
    if (!open.empty() && edits[i].end > open.back()) {
      bad.push_back(i);
    } else {
      open.push_back(edits[i].end);
    }
  }
  return bad;
}

std::string apply_edits(const std::string& text, const std::vector<Edit>& edits) {
  std::string out;
  std::vector<size_t> open;
  size_t copied = 0;
  const auto copy_to = [&](size_t offset) {
    out.append(text, copied, offset - copied);
    copied = offset;
  };
  const auto close_until = [&](size_t offset) {
    while (!open.empty() && edits[open.back()].end <= offset) {
      copy_to(edits[open.back()].end);
      out += edits[open.back()].after;
      open.pop_back();
    }
  };
  for (const size_t i : outer_first(edits)) {
    close_until(edits[i].begin);
    copy_to(edits[i].begin);
    out += edits[i].before;
    if (edits[i].begin == edits[i].end) {
      out += edits[i].after;
    } else {
      open.push_back(i);
    }
  }
  close_until(text.size());
  copy_to(text.size());
  return out;
}

}  // namespace vprof::instrumenter
