"""The symbol graphs of the built modules: their public declarations, as the compiler sees them."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def output(*command):
    """The standard output of a command that runs in the root of the package."""
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def modules_folder():
    """The folder of the built modules."""
    return pathlib.Path(output("swift", "build", "--show-bin-path")) / "Modules"


def import_paths(modules):
    """The options for the compiled modules and for the module maps of the system libraries that they import."""
    maps = [*ROOT.glob("Sources/*/module.modulemap"), *ROOT.glob(".build/checkouts/*/Sources/*/module.modulemap")]
    return [argument for folder in [modules, *(path.parent for path in maps)] for argument in ("-I", str(folder))]


def extract(module, modules, folder):
    """Writes the symbol graphs of a module into a folder: its public declarations with comments, and its extensions."""
    target = json.loads(output("swift", "-print-target-info"))["target"]["unversionedTriple"]
    subprocess.run(
        ["swift", "symbolgraph-extract", "-module-name", module, *import_paths(modules), "-target", target,
         "-minimum-access-level", "public", "-skip-synthesized-members", "-emit-extension-block-symbols",
         "-output-dir", str(folder)], cwd=ROOT, check=True)
