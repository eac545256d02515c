#include "server.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <sstream>
#include <utility>

using asio::use_awaitable;
using asio::ip::tcp;

namespace {

/// A call of another service, which answers after a while.
asio::awaitable<void> ask_service(std::chrono::microseconds answers_after) {
  asio::steady_timer answer(co_await asio::this_coro::executor);
  answer.expires_after(answers_after);
  co_await answer.async_wait(use_awaitable);
}

asio::awaitable<void> check_customer(const Order& order) {
  co_await ask_service(std::chrono::microseconds(200 + order.customer % 7));
}

asio::awaitable<int> compute_price(const Order& order) {
  unsigned price = static_cast<unsigned>(order.item);
  for (int i = 0; i < 40000; ++i) {
    price = price * 1664525u + 1013904223u;
  }
  co_return static_cast<int>(price % 1000);
}

/// Prices are computed in a pool of their own.
asio::awaitable<int> price_order(Shop& shop, const Order& order) {
  co_return co_await asio::co_spawn(shop.pricing_pool, compute_price(order), use_awaitable);
}

asio::awaitable<int> take_item(Shop& shop, const Order& order) {
  co_return shop.stock.take(order.item);
}

/// One order at a time has the stock.
asio::awaitable<int> reserve_stock(Shop& shop, const Order& order) {
  co_return co_await asio::co_spawn(shop.stock_strand, take_item(shop, order), use_awaitable);
}

asio::awaitable<void> write_journal() { co_await ask_service(std::chrono::microseconds(100)); }

asio::awaitable<void> serve(tcp::socket socket, Shop& shop) {
  std::string line;
  try {
    for (;;) {
      const size_t size =
          co_await asio::async_read_until(socket, asio::dynamic_buffer(line), '\n', use_awaitable);
      Order order;
      std::istringstream(line.substr(0, size)) >> order.customer >> order.item;
      line.erase(0, size);
      const std::string answer = co_await handle_order(shop, order);
      co_await asio::async_write(socket, asio::buffer(answer), use_awaitable);
    }
  } catch (const boost::system::system_error&) {
    // The client has gone.
  }
}

}  // namespace

asio::awaitable<std::string> handle_order(Shop& shop, Order order) {
  co_await check_customer(order);
  const int price = co_await price_order(shop, order);
  const int left = co_await reserve_stock(shop, order);
  co_await write_journal();
  co_return std::to_string(price) + " " + std::to_string(left) + "\n";
}

asio::awaitable<void> listen(tcp::acceptor& acceptor, Shop& shop) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(use_awaitable);
    asio::co_spawn(acceptor.get_executor(), serve(std::move(socket), shop), asio::detached);
  }
}
