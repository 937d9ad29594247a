"""The operations on files that `file-operations.c` records, the jobs of the command that are run with it, and the check of
the store that a job leaves. For Scripts/run-power-loss and Scripts/run-faults."""

import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

MODEL = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
    <entity name="Note" syncable="YES">
        <attribute name="number" attributeType="Integer 64" optional="YES"/>
        <attribute name="photo" attributeType="Binary" allowsExternalBinaryDataStorage="YES" optional="YES"/>
        <attribute name="{title}" attributeType="String" optional="YES" elementID="title"/>
        <relationship name="items" toMany="YES" optional="YES" destinationEntity="Item" inverseName="note" \
inverseEntity="Item" deletionRule="Cascade"/>
    </entity>
    <entity name="Item" syncable="YES">
        <attribute name="name" attributeType="String" optional="YES"/>
        <relationship name="note" maxCount="1" optional="YES" destinationEntity="Note" inverseName="items" \
inverseEntity="Note" deletionRule="Nullify"/>
    </entity>
</model>
"""


def compile_library(folder):
    """The library to be loaded before the C library."""
    library = folder / "file-operations.so"
    source = pathlib.Path(__file__).with_name("file-operations.c")
    compiler = shutil.which("clang") or shutil.which("cc")
    subprocess.run([compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def document(numbers, seed):
    """Notes with two items each; every third has a value that is too large for a row."""
    def photo(number):
        block = hashlib.sha256(f"{seed}-{number}".encode()).digest()
        return base64.b64encode(block * 3400).decode()

    notes = []
    for number in numbers:
        note = {"number": number, "title": f"{seed} {number}", "items": [{"name": f"a {number}"}, {"name": "b" * 3000}]}
        if number % 3 == 0:
            note["photo"] = photo(number)
        notes.append(note)
    return json.dumps({"Note": notes})


class Jobs:
    """A store, and the commands that change it."""

    names = ["set", "delete", "import", "copy", "create", "migrate"]

    def __init__(self, folder, coral):
        self.folder = folder
        self.coral = coral
        self.original = folder / "original"
        self.original.mkdir()
        for name, title in [("Old", "title"), ("New", "heading")]:
            model = folder / f"{name}.xcdatamodel"
            model.mkdir()
            (model / "contents").write_text(MODEL.format(title=title))
        (folder / "first.json").write_text(document(range(1, 13), "one"))
        (folder / "second.json").write_text(document(range(7, 19), "two"))
        (folder / "photo").write_bytes(b"new" * 50_000)
        self.run("import", folder / "first.json", "--into", self.original / "Notes.sqlite", "--model", folder / "Old.xcdatamodel")

    def run(self, *arguments):
        subprocess.run([self.coral, *map(str, arguments)], check=True, capture_output=True)

    def prepare(self, work):
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(self.original, work)

    def command(self, job, work):
        store, folder = work / "Notes.sqlite", self.folder
        arguments = {
            "set": ["set", store, f"photo=@{folder / 'photo'}", "--entity", "Note", "--where", "number >= 4", "--yes",
                    "--no-backup"],
            "delete": ["delete", store, "--entity", "Note", "--where", "number >= 4", "--yes", "--no-backup"],
            "import": ["import", folder / "second.json", "--into", store, "--key", "Note=number", "--no-backup"],
            "copy": ["copy", store, "--entity", "Note", "--no-backup"],
            "create": ["import", folder / "second.json", "--into", work / "Other.sqlite", "--model",
                       folder / "Old.xcdatamodel"],
            "migrate": ["migrate", store, "--to", folder / "New.xcdatamodel", "--no-backup"],
        }[job]
        return [str(self.coral), *map(str, arguments)]

    def store(self, job, work):
        return work / ("Other.sqlite" if job == "create" else "Notes.sqlite")

    def content(self, job, work):
        return content(self.store(job, work))

    def problems(self, job, work):
        """What is wrong with the store; large values without a row are left by design."""
        store = self.store(job, work)
        if not store.exists():
            return []
        run = subprocess.run([self.coral, "check", store, "--json"], capture_output=True, text=True)
        if run.returncode not in (0, 2):
            return [f"check has the status {run.returncode}: {run.stderr.strip()}"]
        codes = re.findall(r'"code" : "(\w+)"', run.stdout)
        return [] if set(codes) <= {"unusedFile"} else [run.stdout]


def content(store):
    """A digest of the rows, with large values; "none" if there is no store."""
    if not store.exists() or not store.stat().st_size:
        return "none"
    values = store.parent / f".{store.stem}_SUPPORT" / "_EXTERNAL_DATA"

    def stable(value):
        if isinstance(value, bytes) and value[:1] == b"\2" and len(value) == 38:
            file = values / value[1:37].decode()
            return hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else "missing"
        if isinstance(value, bytes) and value[:1] == b"\1" and len(value) >= 100_000:
            return hashlib.sha256(value[1:]).hexdigest()
        return value

    database = sqlite3.connect(f"file:{store}?mode=rw", uri=True)
    try:
        check = [row[0] for row in database.execute("PRAGMA integrity_check")]
        if check != ["ok"]:
            return f"damaged: {check[:3]}"
        digest = hashlib.sha256()
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        for table in tables:
            # Primary keys are reserved before the transaction that uses them.
            if table in ("Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY") or table.startswith("sqlite_"):
                continue
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            digest.update(repr((table, columns)).encode())
            for row in sorted(map(repr, ([stable(value) for value in row] for row in database.execute(f"SELECT * FROM {table}")))):
                if "'missing'" in row:
                    return f"a row of {table} refers to a file that does not exist"
                digest.update(row.encode())
        return digest.hexdigest()[:16]
    except sqlite3.DatabaseError as error:
        return f"damaged: {error}"
    finally:
        database.close()


def environment(library, work, **variables):
    return {**os.environ, "LD_PRELOAD": str(library), "CORAL_FOLDER": str(work.resolve()),
            **{name: str(value) for name, value in variables.items()}}


HEADER = struct.Struct("=c7xQQII")


def records(file):
    """The recorded operations: (letter, number, position, first field, second field)."""
    data = file.read_bytes()
    offset = 0
    while offset < len(data):
        letter, number, position, first, second = HEADER.unpack_from(data, offset)
        offset += HEADER.size
        yield letter.decode(), number, position, data[offset:offset + first], data[offset + first:offset + first + second]
        offset += first + second


class Disk:
    """A folder and the operations on it. Files and folders are numbered anew, because a system uses numbers again."""

    def __init__(self, folder):
        self.folder = folder.resolve()
        self.contents = {}  # of files, before the operations
        self.entries = {}  # of folders, before the operations
        self.ids = {}  # by the system's numbers
        self.root = self._read(self.folder)
        self.operations = []  # (kind, object, …); see `apply`

    def _new(self, number):
        self.ids[number] = len(self.contents) + len(self.entries)
        return self.ids[number]

    def _read(self, path):
        identifier = self._new(path.stat().st_ino)
        if path.is_dir():
            entries = self.entries[identifier] = {}
            for child in path.iterdir():
                if not child.name.endswith("-shm"):
                    entries[child.name] = self._read(child)
        else:
            self.contents[identifier] = path.read_bytes()
        return identifier

    def add(self, recorded):
        """Adds recorded operations. A change of a name belongs to the folder, with the file that it names."""
        live = {folder: dict(entries) for folder, entries in self.entries.items()}

        def place(path):
            parts = pathlib.Path(os.fsdecode(path)).relative_to(self.folder).parts
            folder = self.root
            for part in parts[:-1]:
                folder = live[folder][part]
            return folder, parts[-1]

        def change(*changes):
            for folder, name, child in changes:
                if child is None:
                    live[folder].pop(name, None)
                else:
                    live[folder][name] = child
            self.operations.append(("names", changes))

        for letter, number, position, first, second in recorded:
            if letter in "CM":
                folder, name = place(first)
                if letter == "M" and live[folder].get(name) is not None:
                    continue
                identifier = self._new(number)
                if letter == "C":
                    self.contents[identifier] = b""
                else:
                    self.entries[identifier] = {}
                    live[identifier] = {}
                change((folder, name, identifier))
            elif letter in "WRS":
                if number in self.ids:
                    kind = {"W": "write", "R": "resize", "S": "sync"}[letter]
                    self.operations.append((kind, self.ids[number], position, first))
            else:
                folder, name = place(first)
                child = live[folder].get(name)
                if letter == "U":
                    change((folder, name, None))
                elif letter == "L":
                    change((*place(second), child))
                elif letter == "X":
                    other_folder, other_name = place(second)
                    change((folder, name, live[other_folder].get(other_name)), (other_folder, other_name, child))
                else:
                    change((folder, name, None), (*place(second), child))

    def build(self, destination, selection):
        """Writes the state after the selected operations: (index, sectors), where `sectors` selects those of a write, or is
        nil for the whole."""
        contents = dict(self.contents)
        entries = {folder: dict(children) for folder, children in self.entries.items()}
        for index, sectors in selection:
            kind, *rest = self.operations[index]
            if kind == "names":
                for folder, name, child in rest[0]:
                    if child is None:
                        entries[folder].pop(name, None)
                    else:
                        entries[folder][name] = child
                continue
            if kind == "sync":
                continue
            identifier, position, data = rest
            if identifier not in contents:
                continue
            old = contents[identifier]
            if not isinstance(old, bytearray):
                old = contents[identifier] = bytearray(old)
            if kind == "resize":
                del old[position:]
                old.extend(bytes(position - len(old)))
                continue
            for start, end in sectors if sectors is not None else [(0, len(data))]:
                if len(old) < position + start:
                    old.extend(bytes(position + start - len(old)))
                old[position + start:position + end] = data[start:end]

        def write(folder, path):
            path.mkdir(parents=True)
            for name, child in entries[folder].items():
                if child in entries:
                    write(child, path / name)
                else:
                    (path / name).write_bytes(contents[child])

        shutil.rmtree(destination, ignore_errors=True)
        write(self.root, destination)
