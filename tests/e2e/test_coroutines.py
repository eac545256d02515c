"""vprof loop --auto on a server of coroutines names the planted function, across its threads."""

from e2e import (
    arguments,
    check_conservation,
    copy_example,
    fingerprint,
    load_report,
    main,
    require,
    require_unchanged,
    run,
)

PLANTED = "compact_shelf"


def below(node, function, inside=False):
    """All nodes below those of the function."""
    if inside:
        yield node
    for child in node.get("children", []):
        yield from below(child, function, inside or node["function"] == function)


def test():
    options = arguments("--example")
    example = copy_example(options.root, options.example, options.scratch / "source")
    before = fingerprint(example)
    run([options.vprof, "-C", example, "loop", "--auto"])
    require_unchanged(before, example)

    report = load_report(options.vprof, example)
    require(report["interval"]["count"] == 3000, f"{report['interval']['count']} orders instead of 3000")
    require(report["interval"]["incomplete"] == 0, f"{report['interval']['incomplete']} incomplete orders")
    require(report["overhead"]["dropped"] == 0, "records were dropped")
    # The coroutines beside it await the strand that the function keeps busy: that may come first.
    functions = [factor for factor in report["factors"] if not factor["functions"][0].startswith("co_await(")]
    require(functions, "no factors")
    first = functions[0]
    require(first["functions"][0] in (f"Stock::{PLANTED}", f"body(Stock::{PLANTED})"), f"the first function is {first['functions']}")
    # A thread that was woken for a coroutine on the strand says who kept the strand busy until then.
    unknown = sum(abs(node["share"]) for node in below(report["tree"], "reserve_stock") if node["function"] == "unknown event")
    require(unknown < 0.05, f"{100 * unknown:.1f} % of the variance is an unknown event that ended the wait for the strand")
    check_conservation(report)
    print(f"{PLANTED}: {100 * first['share']:.1f} % after {len(report['iterations'])} iterations")


main(test)
