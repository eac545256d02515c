"""The workloads of examples/mariadb on Debian's own server. The mix of TPC-C loads, runs all kinds of transactions, and keeps
the consistency conditions. The few hot rows of the patches' stress test tell locks from none."""

import os
import re
import shutil
import subprocess

from e2e import arguments, copy_example, main, require, run

TRANSACTIONS = 2000
WAREHOUSES, ITEMS, CUSTOMERS = 2, 1000, 30
# Each must be 0: TPC-C 3.3.2.1 to 3.3.2.4, and what a transaction that was cut in two would leave.
CONDITIONS = {
    "a warehouse's income is that of its districts": """
        SELECT count(*) FROM warehouse WHERE w_ytd <> (SELECT sum(d_ytd) FROM district WHERE d_w_id = w_id)""",
    "the next order follows the last one": """
        SELECT count(*) FROM district WHERE d_next_o_id - 1 <>
          (SELECT max(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id)""",
    "new orders have no gap": """
        SELECT count(*) FROM (SELECT max(no_o_id) - min(no_o_id) + 1 - count(*) AS missing FROM new_order
          GROUP BY no_w_id, no_d_id) AS districts WHERE missing <> 0""",
    "orders have their lines": """
        SELECT count(*) FROM orders WHERE o_ol_cnt <> (SELECT count(*) FROM order_line
          WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id)""",
    "what is undelivered has no carrier": """
        SELECT count(*) FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
          WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)""",
}


def built(tree):
    """What build.sh would have built, from Debian's packages."""
    for path, target in (("bld/sql/mariadbd", "/usr/sbin/mariadbd"), ("bld/client/mariadb", "/usr/bin/mariadb"),
                         ("bld/sql/share", "/usr/share/mysql"), ("sql/share/charsets", "/usr/share/mysql/charsets")):
        require(os.path.exists(target), f"there is no {target}; install mariadb-server-core and mariadb-client-core")
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).symlink_to(target)
    install = tree / "bld" / "scripts" / "mariadb-install-db"
    install.parent.mkdir()
    # From a package there is neither a source nor a build directory.
    install.write_text('#!/bin/bash\nexec /usr/bin/mariadb-install-db "${@/#--@(src|build)dir=*/--basedir=/usr}"\n'
                       .replace("exec", "shopt -s extglob\nexec"), encoding="utf-8")
    install.chmod(0o755)
    return tree


def asking(path, answers):
    """A command for WATCH that asks for the conditions after the load."""
    queries = "\n".join(f"({query.strip()});" for query in CONDITIONS.values())
    path.write_text(f"""#!/bin/bash
[ "${{1:-}}" = end ] || exit 0
$MARIADB --batch --skip-column-names tpcc >{answers} <<'END'
{queries}
SELECT count(*) FROM history WHERE h_data = 'payment';
SELECT count(*) FROM orders WHERE o_id > {CUSTOMERS};
SELECT count(*) FROM order_line WHERE ol_delivery_d > (SELECT min(o_entry_d) FROM orders WHERE o_id > {CUSTOMERS});
SHOW GLOBAL STATUS LIKE 'Com_savepoint';
END
""", encoding="utf-8")
    path.chmod(0o755)


def hot_rows(example, tree, **settings):
    """Runs patches/hot.lua; its exit status and what it printed."""
    env = {**os.environ, "WORKLOAD": "hot", "CLIENTS": "16", "TRANSACTIONS": "1000", **settings}
    done = subprocess.run([example / "workload.sh"], cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    return done.returncode, done.stdout


def check_hot_rows(example, tree):
    """InnoDB's locks keep all writes, also if there are deadlocks. Without locks the load must notice that writes are lost."""
    status, printed = hot_rows(example, tree, HOT="--rows=8 --upgrades=10")
    require(status == 0 and re.search(r"^\d+ writes, 0 lost$", printed, re.M), printed)
    script = example / "patches" / "hot.lua"
    script.write_text(script.read_text(encoding="utf-8").replace('"FOR UPDATE"', '""'), encoding="utf-8")
    status, printed = hot_rows(example, tree, HOT="--rows=8 --shared=0")
    require(status != 0 and "two transactions had a row at the same time" in printed, printed)


def test():
    options = arguments()
    require(shutil.which("sysbench"), "there is no sysbench")
    example = copy_example(options.root, "mariadb", options.scratch / "mariadb")
    answers, result = options.scratch / "answers", options.scratch / "result"
    asking(options.scratch / "ask.sh", answers)
    for settings in ("", "thread-handling=pool-of-threads thread-pool-size=1 innodb-flush-log-at-trx-commit=2"):
        run([example / "workload.sh"], cwd=built(options.scratch / f"tree-{len(settings)}"),
            env={**os.environ, "WATCH": str(options.scratch / "ask.sh"), "RESULT": str(result), "SETTINGS": settings,
                 "TRANSACTIONS": str(TRANSACTIONS), "WAREHOUSES": str(WAREHOUSES), "ITEMS": str(ITEMS),
                 "CUSTOMERS": str(CUSTOMERS)})
        summary = result.read_text(encoding="utf-8")
        done = int(re.search(r"transactions: +(\d+)", summary)[1])
        require(done == TRANSACTIONS, f"{done} transactions instead of {TRANSACTIONS}")
        *counts, payments, orders, deliveries, savepoints = answers.read_text(encoding="utf-8").splitlines()
        for (condition, _), found in zip(CONDITIONS.items(), counts, strict=True):
            require(found == "0", f"not so in {found} places: {condition}")
        require(int(payments) > 0.38 * TRANSACTIONS, f"{payments} payments")
        require(int(orders) > 0.38 * TRANSACTIONS, f"{orders} orders")
        require(int(deliveries) > 0, "nothing was delivered")
        # One for each transaction, also for those that a deadlock ended and sysbench began again.
        require(int(savepoints.split()[1]) >= TRANSACTIONS, savepoints)
    check_hot_rows(example, built(options.scratch / "tree-hot"))


main(test)
