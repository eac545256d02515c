"""The Debian package: complete, stripped, without complaints of lintian, and it works in a fresh Debian 12 that holds
nothing but the package and what it depends on."""

import json
import re
import subprocess
from pathlib import Path

from e2e import arguments, copy_example, main, require, run

NEEDED = ("libclang-cpp19", "libllvm19", "libclang-common-19-dev", "libc6", "libstdc++6", "libsqlite3-0",
          "libncursesw6")
FILES = ("./usr/bin/vprof", "./usr/libexec/vprof/vprof-instrument", "./usr/libexec/vprof/vprof-shim",
         "./usr/libexec/vprof/libvprof-exec.so", "./usr/libexec/vprof/vprof-tables",
         "./usr/libexec/vprof/arrow/LICENSE.txt", "./usr/share/vprof/python/vprof/fleet/__main__.py", "./usr/lib/libvprof.so", "./usr/lib/libvprof-stub.a",
         "./usr/include/vprof/annotations.h", "./usr/lib/cmake/vprof/vprofConfig.cmake",
         "./usr/share/man/man1/vprof.1.gz", "./usr/share/bash-completion/completions/vprof",
         "./usr/share/zsh/vendor-completions/_vprof", "./usr/share/vprof/schemas/vprof.schema.json",
         "./usr/share/vprof/catalogue/nginx.json", "./usr/share/doc/vprof/copyright",
         "./usr/share/doc/vprof/changelog.gz", "./usr/share/doc/vprof/commands.md")
LARGEST_KB = 62_000 + 20_000  # Apache Arrow, and the rest; with debug symbols that would be ten times as much

# What a user does first, as root of the new system; $1 is the package's file. The shells complete the name of the
# program only with what the package has installed.
USE = """
set -e
export DEBIAN_FRONTEND=noninteractive
apt-get install -y --no-install-recommends ./"$1"
apt-get install -y --no-install-recommends gcc libc6-dev make bash-completion zsh
cd /quickstart-c
test "$(dpkg-query -W -f '${Version}' vprof)" = "$(vprof --version | cut -d' ' -f2)"
vprof check
vprof loop --auto --max-iterations 1
vprof report --json > /report.json
test -s .vprof/report.html
vprof export --parquet /tables
test -d /tables/recordings
bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader vprof; complete -p vprof'
zsh -c 'autoload -U compinit; compinit -u -d /tmp/comps; test "$_comps[vprof]" = _vprof'
"""


def output(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=False)
    require(done.returncode == 0, f"{command[0]} exited with status {done.returncode}")
    return done.stdout


def only(files):
    files = list(files)
    require(len(files) == 1, f"one file expected, not {files}")
    return files[0]


def check_control(package, root):
    control = output("dpkg-deb", "--field", package)
    version = re.search(r"project\(vprof VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))
    require(f"Version: {version[1]}\n" in control, f"not the version of CMakeLists.txt: {control}")
    depends = re.search(r"^Depends: (.*)", control, re.M)[1]
    missing = [name for name in NEEDED if not re.search(rf"(^|, ){re.escape(name)}( |,|$)", depends)]
    require(not missing, f"Depends lacks {missing}: {depends}")
    size = int(re.search(r"^Installed-Size: (\d+)", control, re.M)[1])
    require(size <= LARGEST_KB, f"{size} KB installed")


def sections(file):
    return output("readelf", "--section-headers", "--wide", file)


def build_id(file):
    return re.search(r"Build ID: ([0-9a-f]+)", output("readelf", "--notes", file))[1]


def check_files(package, symbols, scratch):
    listed = output("dpkg-deb", "--contents", package)
    missing = [name for name in FILES if not re.search(rf" {re.escape(name)}( ->|$)", listed, re.M)]
    require(not missing, f"the package lacks {missing}:\n{listed}")
    run(["dpkg-deb", "--extract", package, scratch / "files"])
    run(["dpkg-deb", "--extract", symbols, scratch / "symbols"])
    for name in ("bin/vprof", "libexec/vprof/vprof-instrument", "lib/libvprof.so"):
        file = scratch / "files/usr" / name
        require(".debug_info" not in sections(file), f"{name} is not stripped")
        own = build_id(file)
        apart = scratch / "symbols/usr/lib/debug/.build-id" / own[:2] / f"{own[2:]}.debug"
        require(apart.is_file(), f"the package of the symbols lacks {apart}")
        require(".debug_info" in sections(apart), f"{apart} holds no debug information")


def sources():
    """Where this machine gets Debian from."""
    files = [Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list")]
    return next(file for file in files if file.is_file() and "debian" in file.read_text(encoding="utf-8"))


def check_use(package, root, scratch):
    example = copy_example(root, "quickstart-c", scratch / "source")
    report = scratch / "report.json"
    run(["mmdebstrap", "--quiet", "--variant=apt", "--aptopt=Acquire::Check-Valid-Until false",
         f"--customize-hook=copy-in {package} /",
         f"--customize-hook=cp -R {example} $1/quickstart-c",
         "--customize-hook=chroot $1 sh -c '" + USE.replace("'", "'\\''") + f"' sh {package.name}",
         f"--customize-hook=cp $1/report.json {report}", "bookworm", "/dev/null", sources()])
    count = json.loads(report.read_text(encoding="utf-8"))["interval"]["count"]
    require(count == 3000, f"{count} orders instead of 3000")


def test():
    options = arguments("--build")
    made = options.scratch / "package"
    run(["cpack", "--config", Path(options.build, "CPackConfig.cmake"), "-B", made])
    package, symbols = only(made.glob("vprof_*.deb")), only(made.glob("vprof-dbgsym_*"))
    check_control(package, options.root)
    check_files(package, symbols, options.scratch)
    run(["lintian", "--fail-on", "error,warning", package])  # cmake/debian/lintian-overrides says why not
    check_use(package, options.root, options.scratch)


main(test)
