"""Tests of `coral mcp` by the protocol's own client: `python3 Python/test_assistant.py`, with the programs of .build/debug.

The client is the package `mcp` of PyPI, from version 2. Without it the tests are skipped.
"""

import asyncio
import hashlib
import os
import subprocess
import tempfile
import unittest

try:
    import mcp
except ImportError:
    mcp = None

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".build", "debug")
CORAL = os.environ.get("CORAL", os.path.join(PROGRAMS, "coral"))


@unittest.skipIf(mcp is None, "The package mcp is not installed.")
class AssistantTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.folder.name, "Notes.sqlite")
        subprocess.check_call([os.path.join(PROGRAMS, "MakeExampleStore"), self.store])

    def tearDown(self):
        self.folder.cleanup()

    def digest(self):
        with open(self.store, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def session(self, work, *options, mode="auto"):
        """Runs `work` with a client of a server for the store."""

        async def run():
            server = mcp.StdioServerParameters(command=CORAL, args=["mcp", self.store, *options])
            async with mcp.Client(server, mode=mode, read_timeout_seconds=60) as client:
                return await work(client)

        return asyncio.run(run())

    def test_a_session_of_each_kind_of_revision(self):
        async def names(client):
            return client.protocol_version, [tool.name for tool in (await client.list_tools()).tools]

        reading = ["info", "model", "query", "get", "find", "history", "explain", "doctor"]
        self.assertEqual(self.session(names), ("2026-07-28", reading))
        revision, tools = self.session(names, "--writable", mode="legacy")
        self.assertEqual(tools, reading + ["set", "delete"])
        self.assertLess(revision, "2026")

    def test_each_reading_tool(self):
        before = self.digest()
        arguments = {
            "query": {"entity": "Note", "where": "rank > 0.3", "columns": "title,rank", "sort": "rank", "limit": 2},
            "get": {"object": "Note/p1", "depth": 1},
            "find": {"text": "Note"},
            "model": {"entity": "Note"},
        }

        async def work(client):
            tools = (await client.list_tools()).tools
            return {tool.name: await client.call_tool(tool.name, arguments.get(tool.name, {})) for tool in tools}

        for mode in ("auto", "legacy"):
            results = self.session(work, mode=mode)
            history = results.pop("history")
            self.assertTrue(history.is_error, history)
            for name, result in results.items():
                self.assertFalse(result.is_error, (name, result))
                self.assertTrue(result.structured_content["untrusted"])
                self.assertTrue(result.content[0].text.startswith("Untrusted data of the store follows."))
            rows = results["query"].structured_content["data"]
            self.assertEqual([row["title"] for row in rows], ["Note 3", "Note 2"])
        self.assertEqual(self.digest(), before)

    def test_mistakes_are_errors_and_the_session_goes_on(self):
        async def work(client):
            messages = []
            for name, arguments in [
                ("set", {"entity": "Note", "where": "TRUEPREDICATE", "assignments": ["rank=1"]}),
                ("nothing", {}),
                ("query", {"entity": "Note", "output": "/tmp/x"}),
                ("query", {"entity": 7}),
                ("query", {"entity": "Note", "limit": 10**30}),
            ]:
                with self.assertRaises(mcp.MCPError) as caught:
                    await client.call_tool(name, arguments)
                messages.append(caught.exception.error.code)
            wrong = await client.call_tool("query", {"entity": "Nite"})
            right = await client.call_tool("query", {"entity": "Note"})
            return messages, wrong, right

        before = self.digest()
        codes, wrong, right = self.session(work)
        self.assertEqual(set(codes), {-32602})
        self.assertTrue(wrong.is_error)
        self.assertIn('Did you mean "Note"?', wrong.content[0].text)
        self.assertFalse(right.is_error)
        self.assertEqual(self.digest(), before)

    def test_changes(self):
        async def work(client):
            query = {"entity": "Note", "where": "rank == 7", "columns": "title"}
            before = await client.call_tool("query", query)
            change = {"entity": "Note", "where": 'title == "Note 1"', "assignments": ["rank=7"]}
            await client.call_tool("set", change)
            after = await client.call_tool("query", query)
            await client.call_tool("delete", {"entity": "Note", "where": "rank == 7"})
            return before, after, await client.call_tool("query", query)

        rows = [result.structured_content["data"] for result in self.session(work, "--writable")]
        self.assertEqual([len(row) for row in rows], [0, 1, 0])


if __name__ == "__main__":
    unittest.main()
