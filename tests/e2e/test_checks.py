"""The checks of e2e.py must themselves notice a report that does not add up."""

import copy

from e2e import Failure, arguments, check_conservation, fingerprint, main, require, require_unchanged


def node(function, mean, variance, contribution, share, children=(), covariances=()):
    return {
        "function": function,
        "kind": "function",
        "mean_ns": mean,
        "variance_ns2": variance,
        "contribution": contribution,
        "share": share,
        "covariances": list(covariances),
        "children": list(children),
    }


def good_report():
    # Two children with variances 4 and 9 and covariance 1.5: 4 + 9 + 2 * 1.5 = 16.
    a = node("a", 10.0, 4.0, 4 / 16, 5.5 / 16)
    b = node("b", 20.0, 9.0, 9 / 16, 10.5 / 16)
    tree = node("root", 30.0, 16.0, 1.0, 1.0, [a, b], [{"functions": ["a", "b"], "contribution": 3 / 16}])
    return {"interval": {"mean_ns": 30.0, "variance_ns2": 16.0}, "tree": tree}


def require_noticed(report, what):
    try:
        check_conservation(report)
    except Failure:
        return
    raise Failure(f"not noticed: {what}")


def test():
    options = arguments()
    report = good_report()
    check_conservation(report)
    for field in ("contribution", "share", "mean_ns"):
        broken = copy.deepcopy(report)
        broken["tree"]["children"][1][field] *= 1 + 1e-7
        require_noticed(broken, f"a child's {field} that is off by one in ten million")
    broken = copy.deepcopy(report)
    broken["tree"]["covariances"] = []
    require_noticed(broken, "a covariance that is missing")

    source = options.scratch / "source"
    source.mkdir()
    (source / "file").write_text("as it was", encoding="utf-8")
    before = fingerprint(source)
    require_unchanged(before, source)
    (source / "file").write_text("as it is!", encoding="utf-8")
    try:
        require_unchanged(before, source)
    except Failure:
        return
    require(False, "not noticed: a changed file")


main(test)
