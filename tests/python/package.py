"""The package as users get it: types, wheel, docstrings, plots, the example notebook, and the commands of docs/python.md."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import unittest
import warnings
import zipfile
from pathlib import Path

import matplotlib
import nbformat
import vprof
from nbclient import NotebookClient
from support import Case
from synthetic import Recording

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import vprof.plot  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python"
# vprof.fleet has tests of its own, and needs an engine.
OWN = [f"vprof.{one.name}" for one in pkgutil.iter_modules(vprof.__path__) if one.name not in ("fleet", "plot")]
OWN += [f"vprof.plot.{one.name}" for one in pkgutil.iter_modules(vprof.plot.__path__)]


class Package(Case):
    def run_python(self, *arguments, **environment):
        done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=self.root,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_version(self):
        cmake = re.search(r"project\(vprof VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
        self.assertEqual(vprof.__version__, cmake[1])
        self.assertIn(f'version = "{cmake[1]}"', (PACKAGE / "pyproject.toml").read_text())

    def test_types(self):
        cache = Path(os.environ.get("VPROF_BUILD_DIR", self.root)) / "mypy"
        modules = [argument for module in OWN for argument in ("-m", module)]
        self.run_python("-m", "mypy", "--config-file", PACKAGE / "pyproject.toml", "--cache-dir", cache, *modules, MYPYPATH=str(PACKAGE / "src"))

    def test_wheel(self):
        self.run_python("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", self.root, PACKAGE)
        wheel = next(self.root.glob("vprof-*.whl"))
        with zipfile.ZipFile(wheel) as file:
            names = set(file.namelist())
        self.assertLessEqual({"vprof/__init__.py", "vprof/py.typed", "vprof/plot/flames.py"}, names)
        self.assertFalse([name for name in names if name.startswith(("src", "tests")) or name.endswith(".pyc")])
        # Its modules, without the source tree.
        where = self.run_python("-c", "import vprof; print(vprof.__file__)", PYTHONPATH=str(wheel))
        self.assertIn(wheel.name, where)

    def test_docstrings(self):
        for name in OWN:
            module = importlib.import_module(name)
            self.assertEqual(doctest.testmod(module).failed, 0, name)
            self.assertTrue(module.__doc__, name)
        for name in vprof.__all__:
            self.assertTrue(getattr(vprof, name).__doc__, name)

    def test_plots(self):
        recording = Recording(1, n=400, labels=[f"label {i}" for i in range(9)])
        for place in recording.places:
            if place["function"] == "parse":
                place["function"] = "server::http::Parser<std::vector<std::pair<int, server::Header>>>::parse"
        tables = vprof.read(recording.write(self.root))
        for source in ("rows", "rollups"):
            own = vprof.sums(tables, source=source)
            for plot in (vprof.plot.latency_by_label, vprof.plot.shares_over_time, vprof.plot.flame):
                ax = plot(own)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # such as a character that the font lacks
                    ax.figure.savefig(self.root / "plot.png")
                self.assertGreater((self.root / "plot.png").stat().st_size, 10_000)
                plt.close(ax.figure)
        few = vprof.read(Recording(5, n=1).write(self.root / "few"))
        for plot in (vprof.plot.latency_by_label, vprof.plot.shares_over_time, vprof.plot.flame):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                plot(few).figure.canvas.draw()
        # Labels of a long tail are told to be left out; axes have units.
        ax = vprof.plot.latency_by_label(tables, most=4)
        ax.figure.canvas.draw()
        self.assertIn("5 rarer labels", " ".join(text.get_text() for text in ax.texts))
        self.assertTrue(any(re.fullmatch(r"[\d.]+ (ns|µs|ms|s)", tick.get_text()) for tick in ax.get_xticklabels()))
        self.assertEqual(vprof.plot.shares_over_time(tables, window="100ms", k=2, ax=plt.figure().add_subplot()).get_ylabel(),
                         "share of the window's variance")
        plt.close("all")

    def test_flame_is_as_wide_as_the_shares(self):
        tables = vprof.read(Recording(2, n=400).write(self.root))
        tree = vprof.tree(tables)
        ax = vprof.plot.flame(tree, least=0)
        widths = [patch.get_width() for patch in ax.patches if patch.get_y() == 1]  # the children of the interval
        whole = sum(max(node.share, 0) for _, node in tree.walk() if not node.children)
        self.assertAlmostEqual(sum(widths), whole)
        plt.close(ax.figure)

    def test_notebook(self):
        notebook = nbformat.read(PACKAGE / "examples" / "postgresql.ipynb", as_version=4)
        self.assertFalse([cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs], "it is stored without outputs")
        client = NotebookClient(notebook, timeout=None, kernel_name="python3", resources={"metadata": {"path": PACKAGE / "examples"}})
        client.execute()
        kinds = [set(output.get("data", {})) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        self.assertGreaterEqual(sum("image/png" in kind for kind in kinds), 3)
        self.assertGreaterEqual(sum("text/html" in kind for kind in kinds), 3)
        errors = [output for cell in notebook.cells for output in cell.get("outputs", []) if output.get("name") == "stderr"]
        self.assertEqual(errors, [])

    def test_manual(self):
        text = (ROOT / "docs" / "python.md").read_text()
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertGreater(len(blocks), 4)
        script = "import matplotlib\nmatplotlib.use('Agg')\n" + "\n".join(blocks)
        Recording(3, n=300, host="db1").write(self.root / "tables")
        Recording(4, n=300, host="db2", version="2.0").write(self.root / "tables")
        (self.root / "tour.py").write_text(script)
        self.run_python("tour.py")
        for name in re.findall(r"^\| `(vprof\.[a-z_.]+)\(", text, re.MULTILINE):
            self.assertTrue(callable(eval(name, {"vprof": vprof})), name)


if __name__ == "__main__":
    unittest.main()
