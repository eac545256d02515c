"""Tables that cannot be used, or only in part: one clear line each, nothing counted twice."""

import datetime
import shutil
import unittest
import warnings

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import vprof
from support import Case
from synthetic import BEGIN, Recording

NOW = BEGIN + datetime.timedelta(hours=2)


class BadInput(Case):
    def setUp(self):
        super().setUp()
        self.recording = Recording(1, n=60)
        self.recording.write(self.root)

    def read(self, **options):
        return vprof.read(self.root, now=NOW, **options)

    def file(self, table):
        return next(self.root.glob(f"{table}/*/*/*.parquet"))

    def fails(self, words, action=None):
        with self.assertRaises(vprof.InputError) as caught:
            (action or self.read)()
        message = str(caught.exception)
        self.assertNotIn("\n", message)
        for word in words:
            self.assertIn(word, message)

    def with_warning(self, words):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tables = self.read()
        self.assertEqual([one.category for one in caught], [vprof.InputWarning], [str(one.message) for one in caught])
        for word in words:
            self.assertIn(word, str(caught[0].message))
        self.assertEqual(tables.warnings, [str(caught[0].message)])
        return tables

    def rewrite(self, table, change):
        path = self.file(table)
        pq.write_table(change(pq.ParquetFile(path).read()), path)
        return path

    def test_good_tables_say_nothing(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tables = self.read()
        self.assertEqual((tables.ignored, tables.warnings), ([], []))

    def test_truncated(self):
        for table in ("recordings", "places", "intervals", "times"):
            path = self.file(table)
            whole = path.read_bytes()
            for size in (len(whole) // 2, 3, 0):
                path.write_bytes(whole[:size])
                self.fails([str(path), "not a complete Parquet file", "copy it again"], lambda: vprof.tree(self.read()))
            path.write_bytes(whole)
        for table in ("sums", "products", "bins", "latencies"):
            path = self.file(table)
            whole = path.read_bytes()
            path.write_bytes(whole[:-9])
            self.fails([str(path), "not a complete Parquet file"], lambda: vprof.tree(self.read(), source="rollups"))
            path.write_bytes(whole)
        vprof.tree(self.read())

    def test_damaged_in_the_middle(self):
        path = self.file("times")
        content = bytearray(path.read_bytes())
        content[200:400] = bytes(200)
        path.write_bytes(content)
        self.fails([str(path)], lambda: vprof.tree(self.read()))

    def test_another_schema(self):
        path = self.rewrite("times", lambda table: table.drop_columns(["self_ns"]))
        self.fails([str(path), "no column 'self_ns'", "export the recording again"], lambda: self.read().times)
        self.recording.write(self.root)
        path = self.rewrite("times", lambda table: table.set_column(4, "total_ns", table["total_ns"].cast(pa.float64())))
        self.fails([str(path), "'total_ns' is double", "has int64"], lambda: vprof.tree(self.read()))
        self.recording.write(self.root)
        path = self.rewrite("recordings", lambda table: pa.table({"a": [1]}))
        self.fails([str(path), "no table 'recordings' of vprof"])

    def test_more_columns_are_welcome(self):
        self.rewrite("times", lambda table: table.append_column("later", pa.array([1] * len(table))))
        self.assertEqual(vprof.summary(self.read()).count, 60)

    def test_tables_that_another_engine_has_copied(self):
        wanted = [vprof.tree(self.read(), source=source).to_dict() for source in ("rows", "rollups")]
        for path in self.root.glob("*/*/*/*.parquet"):
            copy = f"{path}.copy"
            duckdb.sql(f"copy (from read_parquet('{path}', hive_partitioning = false)) to '{copy}' (format parquet)")
            shutil.move(copy, path)
        self.assertEqual([vprof.tree(self.read(), source=source).to_dict() for source in ("rows", "rollups")], wanted)

    def test_newer_schema(self):
        path = self.rewrite("recordings", lambda table: table.set_column(1, "schema", pa.array([2], pa.int32())))
        self.fails([str(path), "schema 2", "install a newer one"])

    def test_missing(self):
        self.fails(["nowhere", "no such directory"], lambda: vprof.read(self.root / "nowhere"))
        self.fails([str(self.root / "places"), "no table 'recordings'"], lambda: vprof.read(self.root / "places"))
        for table, words in (("places", "no file in places/"), ("times", "no file in times/"), ("intervals", "no file in intervals/")):
            kept = self.root / "kept"
            (self.root / table).rename(kept)
            self.fails([self.recording.id, "host db1", words, "again"])
            kept.rename(self.root / table)
        for table in ("intervals", "times", "bins"):
            shutil.rmtree(self.root / table)
        self.fails([self.recording.id, "neither intervals and times nor all of sums, bins and latencies"])

    def test_an_export_that_was_killed(self):
        Recording(2, n=50).write(self.root)
        (self.root / f"recordings/day=2026-11-24/host=db1/{2:016x}.parquet").unlink()
        draft = self.root / ".vprof-0003/times/day=2026-11-24/host=db1"
        draft.mkdir(parents=True)
        (draft / "0003.parquet").write_bytes(b"half")
        tables = self.read()
        self.assertEqual(vprof.summary(tables).count, 60)
        self.assertEqual(len(tables.ignored), 7, tables.ignored)
        self.assertTrue(all("its recording is not complete" in line for line in tables.ignored))

    def test_the_same_recording_twice(self):
        wanted = [vprof.tree(self.read(), source=source).to_dict() for source in ("rows", "rollups")]
        for options in ({"host": "db2"}, {"day": "2026-11-25"}, {"day": "2026-11-23"}):
            with self.subTest(options):
                self.recording.write(self.root, **options)
                at = options.get("day", "host=db2")
                tables = self.with_warning([self.recording.id, at, "counts once", "delete this copy"])
                self.assertEqual([vprof.tree(tables, source=s).to_dict() for s in ("rows", "rollups")], wanted)
                self.assertEqual(len(tables.intervals), 60)
                self.assertEqual(len(tables.ignored), 8, tables.ignored)
                for copy in self.root.glob(f"*/*{options.get('day', '2026-11-24')}*/host={options.get('host', 'db1')}"):
                    shutil.rmtree(copy)
        # Two directories, each with a copy.
        other = self.recording.write(self.root / "other")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            both = vprof.read([self.root, other], now=NOW)
        self.assertEqual(len(caught), 1)
        self.assertEqual(vprof.summary(both).count, 60)

    def test_a_copy_of_the_intervals_alone(self):
        path = self.file("intervals")
        pq.write_table(pa.concat_tables([pq.ParquetFile(path).read()] * 2), path)
        self.fails([self.recording.id, "interval 0 is there twice"], lambda: vprof.tree(self.read()))

    def test_times_that_do_not_add_up(self):
        self.rewrite("times", lambda table: table.slice(0, len(table) - 20))
        self.fails([self.recording.id, "do not add up", "export again"], lambda: vprof.tree(self.read()))
        self.recording.write(self.root)
        self.rewrite("places", lambda table: table.slice(0, 10))
        self.fails([self.recording.id, "is not in the table 'places'"], lambda: vprof.tree(self.read()))

    def test_midnight_is_no_copy(self):
        late = Recording(3, n=100)
        begin = datetime.datetime(2026, 11, 24, 23, 59, 59, 950_000, tzinfo=datetime.timezone.utc)
        for one in late.intervals:  # half of them begin on the next day
            one["begin"] = begin + datetime.timedelta(milliseconds=100 - one["interval"])
        days = {one["interval"]: one["begin"].date() for one in late.intervals}
        root = self.root / "late"
        for day in sorted(set(days.values())):
            late.write(root, day=day)
            for table in ("intervals", "times"):
                path = root / f"{table}/day={day}/host=db1/{late.id}.parquet"
                rows = pq.ParquetFile(path).read()
                pq.write_table(rows.filter(pa.array([days[i] == day for i in rows["interval"].to_pylist()])), path)
        for table in ("recordings", "places", "sums", "products", "bins", "latencies"):
            shutil.rmtree(root / f"{table}/day=2026-11-25")
        tables = vprof.read(root, now=NOW)
        self.assertEqual((tables.warnings, len(tables.intervals), vprof.summary(tables).count), ([], 100, 100))
        part = vprof.read(root, days="2026-11-25", now=NOW)
        self.assertEqual(vprof.summary(part).count, 51)
        self.assertFalse(part.has_rollups)

    def test_a_clock_that_is_hours_ahead(self):
        later = NOW + datetime.timedelta(hours=5)
        column = pa.array([later], pa.timestamp("us", tz="UTC"))
        self.rewrite("recordings", lambda table: table.set_column(table.schema.get_field_index("exported"), "exported", column))
        tables = self.with_warning(["host db1", "5.0 h from now", "set the clock"])
        self.assertEqual(vprof.summary(tables).count, 60)

    def test_files_elsewhere_do_not_count(self):
        shutil.copy(self.file("intervals"), self.root / "intervals" / "copy.parquet")
        tables = self.read()
        self.assertEqual(vprof.summary(tables).count, 60)
        self.assertIn("not below day=YYYY-MM-DD/host=NAME", tables.ignored[0])

    def test_parts_of_a_recording(self):
        path = self.file("times")
        rows = pq.ParquetFile(path).read()
        wanted = vprof.tree(self.read()).to_dict()
        pq.write_table(rows.slice(0, 100), path)
        pq.write_table(rows.slice(100), path.with_name(f"{self.recording.id}-1.parquet"))
        self.assertEqual(vprof.tree(self.read()).to_dict(), wanted)

    def test_options(self):
        tables = self.read()
        for words, action in (
            ("ranking is 'size'; it may be share or variance", lambda: vprof.factors(tables, ranking="size")),
            ("specificity is 'none'", lambda: vprof.factors(tables, specificity="none")),
            ("k is at least 1", lambda: vprof.factors(tables, k=0)),
            ("no interval is named 'job'; there are: request", lambda: vprof.tree(tables, name="job")),
            ("source is 'sums'", lambda: vprof.tree(tables, source="sums")),
            ("an interval is in the data frame twice", lambda: tables.slice(tables.intervals.loc[[0, 0]])),
            ("interval is missing", lambda: tables.slice(tables.intervals[["recording", "name"]])),
            ("no interval 'request' is left", lambda: vprof.tree(tables.slice(tables.intervals.head(0)))),
        ):
            self.fails([words], action)

    def test_different_programs(self):
        other = Recording(5, n=60)
        for place in other.places:
            if place["key"]:
                place["key"], place["function"] = "x" + place["key"], "x" + place["function"]
        tables = vprof.read(other.write(self.root / "other"), now=NOW)
        self.fails(["have 0 in common", "force=True"], lambda: vprof.compare(self.read(), tables))
        vprof.compare(self.read(), tables, force=True)


if __name__ == "__main__":
    unittest.main()
