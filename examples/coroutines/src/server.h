// The service: one coroutine per connection, and a chain of coroutines per order.
#pragma once

// Boost 1.74 lacks this include.
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <string>

#include "stock.h"

namespace asio = boost::asio;

struct Order {
  int customer = 0;
  int item = 0;
};

struct Shop {
  explicit Shop(asio::io_context& context)
      : stock_strand(asio::make_strand(context)), pricing_pool(1) {}

  Stock stock;
  asio::strand<asio::io_context::executor_type> stock_strand;
  asio::thread_pool pricing_pool;
};

/// Accepts connections until the context stops.
asio::awaitable<void> listen(asio::ip::tcp::acceptor& acceptor, Shop& shop);

/// Handles one order. What VProfiler calls a request.
asio::awaitable<std::string> handle_order(Shop& shop, Order order);
