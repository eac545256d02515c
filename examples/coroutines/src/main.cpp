// A shop on Boost.Asio with C++20 coroutines, and clients that order from it: 3000 orders, some six
// seconds.
#include "server.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstdio>
#include <thread>

#include "clients.h"

int main() {
  asio::io_context context;
  Shop shop(context);
  asio::ip::tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
  asio::co_spawn(context, listen(acceptor, shop), asio::detached);
  std::thread first([&] { context.run(); });
  std::thread second([&] { context.run(); });

  run_clients(acceptor.local_endpoint(), 4, 750);

  context.stop();
  first.join();
  second.join();
  shop.pricing_pool.join();
  std::puts("3000 orders");
}
