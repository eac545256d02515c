// What the name of a function or type says: `ngx_http_free_request` has the words ngx, http, free
// and request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vprof::driver {

/// The words of a name without its scope, in lower case: at underscores and at capitals.
std::vector<std::string> words_of(std::string_view name);

/// How much a word means one request of a client: 3 for `request` or `query`, 1 for what is served
/// many times (`connection`), 0 for all other words.
double request_weight(const std::string& word);
/// The greatest weight of the words.
double request_weight(const std::vector<std::string>& words);

/// How much a name says that it handles one request: 0 if it does not, else the weight of what it
/// handles (`process_command`), less if that is only a part (`process_request_uri`) or comes first
/// (`request_handler`).
double handling_weight(const std::vector<std::string>& words);
/// Whether a name says that it is a state machine: `connection_state_machine`.
bool is_machine(const std::vector<std::string>& words);
/// Whether a word says that something is done to what follows: `handle`, `dispatch`.
bool is_handling(const std::string& word);
/// Whether a word names a step of a request (`header`, `finalize`), or work beside requests
/// (`compact`, `config`).
bool is_step(const std::string& word);
bool is_housekeeping(const std::string& word);
/// Whether a file is that of a client or of a tool for administrators: `redis-cli.c`,
/// `src/bin/psql/common.c`, `daemon/remote.c`.
bool is_of_client(const std::string& file);
/// Whether a file is about peers: `syncrepl.c`, `cluster.c`.
bool is_of_peers(const std::string& file);
/// Whether a file is in a directory of modules, of which not every request needs each.
bool is_of_module(const std::string& file);
/// Whether a name is that of what a process or thread begins with: `main`, `worker_main`.
bool is_main(std::string_view name);
/// Whether a word is about what a server does for or with its peers (`cluster`, `upstream`).
bool is_about_peers(const std::string& word);
/// Whether a word means several at once: `tasks`, `events`.
bool is_collective(const std::string& word);

/// Whether a word says that an object is made ready for its next use: `reset`.
bool reuses(const std::string& word);
/// Whether a word makes an object (`create`), or ends one (`free`).
bool makes(const std::string& word);
bool ends(const std::string& word);
/// Of a word that ends an object, how surely: 1 for `free`, less for `close`.
double finality(const std::string& word);

/// Whether a function accepts a client, by its name (`s_accept`, but not `SSL_accept`).
bool accepts(const std::string& name);
/// Functions that wait for the next event or client, whoever that is.
bool waits_for_anybody(const std::string& name);

}  // namespace vprof::driver
