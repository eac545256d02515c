#!/usr/bin/env bash
# nginx: C; a configure script of its own; event loops in worker processes, state machines. It has no
# tests of its own in its source, so it serves requests of several kinds across reloads.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=nginx version=1.22.
needs=(libpcre2-dev zlib1g-dev apache2-utils curl)
configure="./configure --with-cc-opt='-O2 -g' --with-threads"
build="make -j2"
interval=ngx_http_process_request

suite() {
  local address=127.0.0.1:8643 round try
  rm -rf logs test.conf site
  mkdir -p logs site
  seq 200000 >site/large.txt
  echo hello >site/index.html
  cat >test.conf <<'CONF'
daemon off;
worker_processes 2;
events {}
http {
  types { text/html html; text/plain txt; }
  server {
    listen 127.0.0.1:8643;
    root site;
    location /packed/ { alias site/; gzip on; gzip_types text/plain; }
    location /passed/ { proxy_pass http://127.0.0.1:8643/; }
    location /slow/ { alias site/; limit_rate 4m; }
    location /there/ { rewrite ^/there/(.*)$ /$1 redirect; }
    location /threads/ { alias site/; aio threads; }
  }
}
CONF
  objs/nginx -p . -c test.conf 2>logs/stderr &
  local server=$!
  for ((try = 0; try < 100; ++try)); do
    curl -s -o /dev/null "http://$address/" && break
    sleep 0.1
  done
  requests() { # name path option...
    ab -q -n 2000 -c 8 "${@:3}" "http://$address/$2" |
      sed -n "s/^\(Complete\|Failed\|Non-2xx\)/ab $1: \1/p"
  }
  for round in 1 2; do
    requests "page $round" ""
    requests "kept alive $round" "" -k
    requests "passed on $round" passed/index.html -k
    requests "not there $round" none -k
    for path in large.txt packed/large.txt passed/large.txt slow/large.txt threads/large.txt; do
      curl -s --compressed "http://$address/$path" | md5sum | sed "s#^#got $round $path: #"
    done
    curl -s -o /dev/null -w "got $round redirect: %{http_code} %{redirect_url}\n" "http://$address/there/x"
    curl -s -X POST -d "$(seq 100)" -o /dev/null -w "got $round post: %{http_code}\n" "http://$address/"
    kill -HUP "$server"
    sleep 1
  done
  kill -QUIT "$server"
  wait "$server" && echo "got its end: $?"
  grep -cE '\[(alert|emerg|crit)\]' logs/error.log logs/stderr | sed 's/^/got alarms: /' || true
}
verdict() { grep -E '^(ab|got) ' "$1"; }

# Every hundredth file that is looked up takes 3 ms.
catalogue=nginx cause=planted_pause
plant() { plant_pause src/http/ngx_http_core_module.c '^ngx_http_map_uri_to_path[(]' '^[{]$'; }

run_subject "$@"
