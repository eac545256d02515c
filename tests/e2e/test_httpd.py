"""Apache httpd, apr and apr-util from Debian's source: the search ends where files are sent, and every response is right."""

import os

from e2e import arguments, check_conservation, copy_example, fingerprint, load_report, main, require, require_unchanged, run

REQUESTS = 30000
# Sending a file: what maps it, writes it to the socket and unmaps it.
SENDING = {"send_brigade_nonblocking", "writev_nonblocking", "apr_mmap_create", "file_make_mmap", "mmap", "munmap", "writev", "body(writev)",
           "apr_bucket_delete", "apr_socket_sendv"}


def test():
    options = arguments()
    example = copy_example(options.root, "httpd", options.scratch / "httpd")
    environment = {**os.environ, "VPROF": str(options.vprof), "REQUESTS": str(REQUESTS)}
    run([example / "run.sh", "--fetch"])
    source = example / "work" / "httpd"
    before = fingerprint(source)
    run([example / "run.sh"], env=environment)
    require_unchanged(before, source)

    report = load_report(options.vprof, example)
    require(report["interval"]["count"] >= 0.99 * REQUESTS, f"only {report['interval']['count']} requests were seen whole")
    labels = {label["label"] for label in report["interval"]["labels"]}
    require({"small", "medium", "large", "cold"} <= labels, f"labels are {sorted(labels)}")
    check_conservation(report)
    unknown = [caveat for caveat in report.get("caveats", []) if "unknown: does sites.json" in str(caveat)]
    require(not unknown, f"a part of the program is of an earlier iteration: {unknown}")
    first = [name for factor in report["factors"][:5] for name in factor["functions"]]
    require(SENDING & set(first), f"the first factors are {first}")
    run([example / "run.sh", "--test"], env=environment)
    run([example / "run.sh", "--restart"], env={**environment, "MPM": "prefork"})
    require(load_report(options.vprof, example)["interval"]["count"] >= 0.99 * REQUESTS, "prefork: requests were not seen")


main(test)
