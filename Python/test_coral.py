"""Tests of coral.py: `python3 Python/test_coral.py`, with the programs of .build/debug."""

import os
import subprocess
import tempfile
import unittest

import coral

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".build", "debug")


class CoralTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ.setdefault("CORAL", os.path.join(PROGRAMS, "coral"))
        cls.folder = tempfile.TemporaryDirectory()
        cls.store = os.path.join(cls.folder.name, "Notes.sqlite")
        subprocess.check_call([os.path.join(PROGRAMS, "MakeExampleStore"), cls.store])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_query(self):
        notes = list(coral.query(self.store, "Note", where="rank > 0.3", columns=["title", "rank"], sort="rank"))
        self.assertEqual([note["title"] for note in notes], ["Note 3", "Note 2", "Note 1"])
        self.assertEqual(notes[-1]["rank"], 1)

    def test_the_iterator_may_be_left_early(self):
        self.assertIn("title", next(coral.query(self.store, "Note")))

    def test_export_has_every_object_once(self):
        counts = coral.entities(self.store)
        records = list(coral.export(self.store))
        self.assertEqual(len(records), sum(counts.values()))
        self.assertEqual(sum(1 for record in records if record.get("$entity") == "Note"), counts["Note"])

    def test_get_and_info(self):
        self.assertEqual(coral.get(self.store, "Note/p1")[0]["id"], "Note/p1")
        self.assertGreater(len(coral.get(self.store, "Note/p1", depth=1)), 1)
        self.assertEqual(coral.info(self.store)["objectCount"], sum(coral.entities(self.store).values()))

    def test_errors(self):
        with self.assertRaises(coral.CoralError) as caught:
            list(coral.query(self.store, "Nite"))
        self.assertIn('Did you mean "Note"?', str(caught.exception))
        self.assertEqual(caught.exception.status, 1)
        with self.assertRaises(coral.CoralError):
            coral.info(self.store + ".absent")


if __name__ == "__main__":
    unittest.main()
