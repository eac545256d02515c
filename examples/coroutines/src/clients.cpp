#include "clients.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;

namespace {

void run_client(const asio::ip::tcp::endpoint& server, int client, int orders) {
  asio::io_context context;
  asio::ip::tcp::socket socket(context);
  socket.connect(server);
  std::minstd_rand random(static_cast<unsigned>(client) + 1);
  std::string answer;
  for (int i = 0; i < orders; ++i) {
    const std::string order = std::to_string(client) + " " + std::to_string(random() % 5000) + "\n";
    asio::write(socket, asio::buffer(order));
    answer.erase(0, asio::read_until(socket, asio::dynamic_buffer(answer), '\n'));
    std::this_thread::sleep_for(std::chrono::microseconds(2000 + random() % 4000));
  }
}

}  // namespace

void run_clients(const asio::ip::tcp::endpoint& server, int clients, int orders) {
  std::vector<std::thread> threads;
  for (int client = 0; client < clients; ++client) {
    threads.emplace_back([&server, client, orders] { run_client(server, client, orders); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}
