"""Reads Core Data stores with the command `coral`, as iterators over dictionaries.

    import coral

    for note in coral.query("Notes.sqlite", "Note", where="rank > 3", columns=["title", "author.name"]):
        print(note["title"])

    for record in coral.export("Notes.sqlite"):
        print(record)

Stores are opened read-only. One object is in memory at a time. The command is found on the path, or given by the
environment variable CORAL. Requires Python 3.8 and nothing else.
"""

import json
import os
import subprocess
import sys
import tempfile

__all__ = ["CoralError", "entities", "export", "get", "info", "query"]


class CoralError(Exception):
    """The command failed; the text is its message."""

    def __init__(self, message, status):
        super().__init__(message)
        #: The exit code of the command.
        self.status = status


def query(store, entity, where=None, columns=None, sort=None, limit=None, model=None, time_zone=None):
    """Yields the objects of an entity that match a predicate, as dictionaries of columns.

    `columns` is a list of key paths; without it there are all attributes. Raises CoralError.
    """
    arguments = ["query", store, "--entity", entity, "--json"]
    arguments += _option("--where", where) + _option("--sort", sort)
    arguments += _option("--columns", ",".join(columns) if columns else None)
    arguments += _option("--limit", limit) + _option("--time-zone", time_zone) + _option("--model", model)
    # An array with one object on each line.
    for line in _lines(arguments):
        if line.startswith("{"):
            yield json.loads(line.rstrip(","))


def export(store, entity=None, where=None, model=None):
    """Yields the records of a store, or of an entity's objects with those that they own, as dictionaries.

    A record has its id in `$id` and its entity in `$entity`. Raises CoralError.
    """
    arguments = ["export", store, "--format", "jsonl"]
    arguments += _option("--entity", entity) + _option("--where", where) + _option("--model", model)
    for line in _lines(arguments, findings=True):
        record = json.loads(line)
        # The first line describes the document, the last one states its length.
        if "$header" not in record and "$end" not in record:
            yield record


def get(store, name, depth=0, limit=None, model=None):
    """The object with a URI or a name such as `Note/p3`, and those up to `depth` steps away, as a list of dictionaries.

    `limit` is the maximum number of objects; None for all. Raises CoralError.
    """
    arguments = ["get", store, name, "--depth", str(depth), "--json"]
    # The command has a limit unless one is given.
    arguments += _option("--limit", sys.maxsize if limit is None else limit)
    return json.loads(_output(arguments + _option("--model", model)))


def entities(store, model=None):
    """The entities that have objects, with their numbers of objects."""
    rows = json.loads(_output(["query", store, "--json"] + _option("--model", model)))
    return {row["entity"]: row["count"] for row in rows}


def info(store, model=None):
    """The metadata, the entities and the relationships of a store, as a dictionary."""
    return json.loads(_output(["info", store, "--json"] + _option("--model", model)))


def _option(name, value):
    # As one word, so that a value may begin with a hyphen.
    return [] if value is None else ["%s=%s" % (name, value)]


def _output(arguments):
    return "\n".join(_lines(arguments))


def _lines(arguments, findings=False):
    # Errors go to a file, because a full pipe would stop the command.
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(
            [os.environ.get("CORAL", "coral")] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
        ) as process:
            try:
                for line in process.stdout:
                    yield line.decode("utf-8").rstrip("\r\n")
            except GeneratorExit:
                # The caller needs no more.
                process.kill()
                raise
        if process.returncode and not (findings and process.returncode == 2):
            errors.seek(0)
            message = errors.read().decode("utf-8", "replace").strip()
            raise CoralError(message or "coral has exit code %d." % process.returncode, process.returncode)
