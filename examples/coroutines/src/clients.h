// The load: clients that order one thing after the other.
#pragma once

#include <boost/asio/ip/tcp.hpp>

/// Returns when all orders are answered.
void run_clients(const boost::asio::ip::tcp::endpoint& server, int clients, int orders);
