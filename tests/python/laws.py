"""Laws of the figures, on tables of random intervals: what adds up, and what does not matter."""

import time
import unittest
import warnings

import numpy as np
import pyarrow as pa
import vprof
from support import Case, differences
from synthetic import Recording, decimals
from vprof.exact import sums_of, sums_of_decimals, sums_of_products
from vprof.latency import bucket_of, least_of_bin
from vprof.significance import holm, t_quantile

TAILS = ("tail_share", "tail_share_ci95")


def figures(tables, **options):
    """All figures as one document."""
    own = vprof.sums(tables, **options)
    return {
        "summary": vprof.summary(own).to_dict(),
        "tree": vprof.tree(own).to_dict(),
        "factors": [one.to_dict() for one in vprof.factors(own, least_listed=0)],
        "by variance": [one.to_dict() for one in vprof.factors(own, ranking="variance", specificity="linear")],
    }


class Laws(Case):
    def written(self, *recordings, **options):
        for one in recordings:
            one.write(self.root, **options)
        return vprof.read(self.root)

    def test_a_tree_adds_up(self):
        tree = vprof.tree(self.written(Recording(1)))
        self.assertEqual(tree.share, 1)
        inner = [node for _, node in tree.walk() if node.children]
        self.assertGreaterEqual(len(inner), 6)
        for node in inner:
            for figure in ("mean_ns", "share", "tail_share", "work_share", "label_share"):
                whole = sum(getattr(child, figure) for child in node.children)
                self.assertAlmostEqual(whole / getattr(node, figure), 1, 9, (node.function, figure))
            # Equation 2.2.
            variance = sum(child.variance_ns2 for child in node.children) + sum(2 * c.covariance_ns2 for c in node.covariances)
            self.assertAlmostEqual(variance / node.variance_ns2, 1, 9, node.function)

    def test_self_adds_up_to_the_latency(self):
        tables = self.written(Recording(2))
        whole = tables.times.groupby("interval").self_ns.sum()
        latency = tables.intervals.set_index("interval").latency_ns
        self.assertTrue((whole == latency).all())

    def test_a_function_in_several_places_is_one_variable(self):
        tables = self.written(Recording(3))
        commit = next(f for f in vprof.factors(tables) if f.functions == ["commit"])
        self.assertEqual(len(commit.instances), 2)
        places = tables.places[tables.places.function == "commit"].place
        times = tables.times[tables.times.place.isin(places)].groupby("interval").total_ns.sum()
        intervals = tables.intervals.set_index("interval").latency_ns
        x = times.reindex(intervals.index, fill_value=0)
        self.assertAlmostEqual(commit.contribution, x.var(ddof=0) / intervals.var(ddof=0), 9)
        self.assertAlmostEqual(commit.share, np.cov(x, intervals, ddof=0)[0, 1] / intervals.var(ddof=0), 9)

    def test_rows_and_rollups_agree(self):
        tables = self.written(Recording(4), Recording(5, n=150, host="db2", version="1.1", weights=(1, 1, 3)))
        rows, rollups = (figures(tables, source=source) for source in ("rows", "rollups"))
        # How many intervals declared work is in no roll-up, and neither is the tail itself.
        self.assertIsNone(rollups["summary"]["work"].pop("declared"))
        self.same(rows, rollups, skip=TAILS)

    def test_rollups_know_the_tail_as_far_as_bins_do(self):
        tables = self.written(Recording(6, n=2000))
        exact = {path: node.tail_share for path, node in vprof.tree(tables).walk()}
        for path, node in vprof.tree(tables, source="rollups").walk():
            self.assertAlmostEqual(node.tail_share, exact[path], delta=0.05)
        for source, known in (("rows", True), ("rollups", False)):
            for one in vprof.factors(tables, source=source):
                self.assertEqual(one.tail_share_ci95 is not None, known and one.kind == "variance")
        flat = Recording(7, n=200)
        for one in flat.intervals:  # all latencies in one bin: there is no telling the tail from the rest
            one["own"] = {13: 10**9 + one["interval"]}
            one["totals"] = {0: 10**9 + one["interval"], 13: 10**9 + one["interval"]}
        tables = vprof.read(flat.write(self.root / "flat"))
        self.assertIsNotNone(vprof.tree(tables).tail_share)
        self.assertIsNone(vprof.tree(tables, source="rollups").tail_share)

    def test_order_does_not_matter(self):
        Recording(8).write(self.root / "a")
        Recording(8).write(self.root / "b", shuffle=True)
        for source in ("rows", "rollups"):
            a, b = (figures(vprof.read(self.root / name), source=source) for name in "ab")
            self.assertEqual(list(differences(a, b)), [])

    def test_recordings_add_up(self):
        both = self.written(Recording(9), Recording(10, host="db2"))
        self.assertEqual(len(both.recordings), 2)
        parts = [vprof.sums(vprof.read(self.root, hosts=host)) for host in ("db1", "db2")]
        whole = vprof.sums(both)
        for column in ("x", "xx", "xt"):
            self.assertEqual(list(getattr(whole, column)), list(sum(getattr(p, column) for p in parts)))
        self.assertEqual(whole.n, 600)
        self.assertEqual(whole.incomplete, 4)

    def test_a_slice_is_what_it_holds(self):
        recording = Recording(11, n=400)
        tables = self.written(recording)
        part = tables.slice(tables.intervals[tables.intervals.label == "write"])
        recording.intervals = [one for one in recording.intervals if one["label"] == "write"]
        alone = vprof.read(recording.write(self.root / "alone"))
        self.same(figures(part), figures(alone), skip=("incomplete",))
        self.assertEqual(vprof.summary(part).incomplete, 0)
        self.assertEqual(len(part.times), len(alone.times))
        self.assertEqual(len(part.sums), 0)
        with self.assertRaisesRegex(vprof.InputError, "roll-ups say nothing about a part"):
            vprof.tree(part, source="rollups")
        hour = tables.intervals.begin.dt.floor("100ms")
        counts = [vprof.summary(tables.slice(own)).count for _, own in tables.intervals.groupby(hour)]
        self.assertEqual(sum(counts), 400)

    def test_rollups_alone(self):
        recording = Recording(12)
        recording.write(self.root / "sums", rollups_only=True)
        whole = vprof.read(recording.write(self.root / "all"))
        alone = vprof.read(self.root / "sums")
        self.assertFalse(alone.has_rows)
        self.assertEqual(len(alone.intervals) + len(alone.times), 0)
        self.assertEqual(list(alone.intervals.columns), list(whole.intervals.columns))
        self.assertEqual(figures(alone), figures(whole, source="rollups"))
        with self.assertRaisesRegex(vprof.InputError, "source='rollups'"):
            vprof.tree(alone, source="rows")

    def test_more_labels_than_are_told_apart(self):
        tables = self.written(Recording(13, labels=[f"user {i}" for i in range(100)]))
        for source in ("rows", "rollups"):
            own = vprof.sums(tables, source=source)
            self.assertIsNone(vprof.tree(own).label_share)
            self.assertIsNone(vprof.summary(own).between_labels)
            self.assertTrue(all(one.label_share is None for one in vprof.factors(own)))

    def test_a_change_is_found(self):
        before = vprof.read(Recording(14, n=2000).write(self.root / "a"))
        same = vprof.read(Recording(15, n=2000).write(self.root / "b"))
        slower = vprof.read(Recording(16, n=2000, scale=2).write(self.root / "c"))
        self.assertFalse(any(one.significant for one in vprof.compare(before, same).figures))
        change = vprof.compare(before, slower)
        mean = change.figures[0]
        self.assertTrue(mean.significant)
        self.assertGreater(mean.ci95[0], 1.5)
        self.assertTrue(any(one.significant for one in change.factors))
        self.assertEqual({label.label for label in change.labels}, {"", "read", "write"})
        rollups = vprof.compare(before, slower, source="rollups")
        self.same(rollups.to_dict(), change.to_dict())

    def test_few_intervals_and_no_variance(self):
        constant = Recording(20, n=100)
        for one in constant.intervals:
            one["own"], one["totals"] = {13: 1000}, {0: 1000, 13: 1000}
        for number, recording in enumerate([constant, *(Recording(21, n=n) for n in (1, 2, 3, 11))]):
            tables = vprof.read(recording.write(self.root / f"n {number}"))
            for source in ("rows", "rollups"):
                document = figures(tables, source=source)
                self.assertEqual(document["summary"]["count"], len(recording.intervals))
                if recording is constant or len(recording.intervals) == 1:
                    self.assertFalse(any(one["marked"] for one in document["factors"]))
                self.assertFalse(any(one.significant for one in vprof.compare(tables, tables, source=source).figures))
        self.assertEqual(vprof.tree(vprof.read(self.root / "n 0")).share, 0)
        self.assertIn("only 11 intervals: below 1000 the ranking may not hold", vprof.factors(tables).notes)

    def test_hosts_versions_and_days(self):
        Recording(17).write(self.root)
        Recording(18, host="a/b c", version="2").write(self.root)
        tables = vprof.read(self.root, versions="2")
        self.assertEqual(set(tables.sums.host), {"a/b c"})
        self.assertEqual(vprof.read(self.root, hosts=["db1"]).recordings.version.tolist(), ["1.0"])
        self.assertEqual(len(vprof.read(self.root, days="2026-11-24").recordings), 2)
        only = vprof.read(self.root, columns={"times": ["place", "total_ns"]})
        self.assertEqual(list(only.times.columns), ["place", "total_ns"])
        for options, words in (
            ({"hosts": "x"}, "no recording is of the host 'x'; there are: a/b c, db1"),
            ({"name": "job"}, "no recording is of the interval 'job'; there are: request"),
            ({"days": "2026-11-23"}, "no recording is of all of these"),
            ({"columns": {"times": ["ns"]}}, "there is no times.ns"),
        ):
            with self.assertRaisesRegex(vprof.InputError, words):
                vprof.read(self.root, **options)

    def test_sums_keep_every_digit(self):
        rng = np.random.default_rng(1)
        keys, x, y = rng.integers(0, 5, 4000), rng.integers(0, 2**47, 4000), rng.integers(0, 2**62, 4000)
        for key in range(5):
            own = keys == key
            self.assertEqual(sums_of(keys, 5, x)[key], sum(x[own].tolist()))
            wanted = sum(a * b for a, b in zip(x[own].tolist(), y[own].tolist()))
            self.assertEqual(sums_of_products(keys, 5, x, y)[key], wanted)
        column = pa.chunked_array([decimals([2**100 + 7, None, 5])])
        self.assertEqual(list(sums_of_decimals(np.array([0, 0, 1]), 2, column)), [2**100 + 7, 5])

    def test_buckets(self):
        ns = [0, 1, 2047, 2048, 2049, 2050, 4095, 4096, 123_456_789, 2**47 - 1]
        for one, bucket in zip(ns, bucket_of(np.array(ns)).tolist()):
            e = (bucket >> 10) - 1  # docs/tables.md
            least = bucket if bucket < 2048 else (1024 + (bucket & 1023)) << e
            self.assertTrue(least <= one < least + (1 if bucket < 2048 else 2**e), one)
            self.assertLessEqual(least_of_bin(bucket >> 5), one)
            self.assertGreater(least_of_bin((bucket >> 5) + 1), one)

    def test_student_and_holm(self):
        # Tables of Student's t.
        for degrees, t in ((1, 12.7062), (5, 2.570582), (15, 2.131450), (1000, 1.962339)):
            self.assertAlmostEqual(t_quantile(0.05, degrees), t, delta=1e-4)
        self.assertEqual(holm([0.04, 0.01, 0.03]), [False, True, False])
        self.assertEqual(holm([0.02, 0.01, 0.02]), [True, True, True])

    def test_many_times(self):
        # Many copies of a recording as one; a deadline would depend on the machine, so the sums are checked.
        recording = Recording(19, n=1500)
        copies = 20
        count = len(recording.intervals)
        recording.intervals = [
            dict(one, interval=one["interval"] + copy * count) for copy in range(copies) for one in recording.intervals
        ]
        recording.batch_shift = (copies * count - 1).bit_length() - 6
        rows = {"recordings": recording.recordings(), "places": [{"recording": recording.id, **p} for p in recording.places]}
        rows |= {"intervals": list(recording.interval_rows()), "times": list(recording.times())}
        self.assertGreater(len(rows["times"]), 300_000)
        recording.tables = lambda rollups_only: rows
        start = time.monotonic()
        whole = vprof.sums(vprof.read(recording.write(self.root)))
        print(f"{len(rows['times']):,} times: written and added up in {time.monotonic() - start:.1f} s")
        one = vprof.sums(vprof.read(Recording(19, n=1500).write(self.root / "one")))
        for column in ("x", "xx", "xt"):
            self.assertEqual(list(getattr(whole, column)), [copies * value for value in getattr(one, column)])


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
