#if Macros
    import Foundation
    import Testing

    @testable import CoralPort

    @Suite struct UnifiedDiffTests {
        @Test("A diff has the changed lines with three lines of context")
        func hunks() {
            let old = (1...20).map { "\($0)\n" }.joined()
            let new = old.replacing("\n2\n", with: "\ntwo\n").replacing("\n18\n", with: "\n18\n18a\n")
            #expect(
                UnifiedDiff(from: old, to: new, path: "A.swift").text == """
                    --- a/A.swift
                    +++ b/A.swift
                    @@ -1,5 +1,5 @@
                     1
                    -2
                    +two
                     3
                     4
                     5
                    @@ -16,5 +16,6 @@
                     16
                     17
                     18
                    +18a
                     19
                     20

                    """)
            #expect(UnifiedDiff(from: old, to: old, path: "A.swift").text == "")
        }

        @Test("patch makes the second text of the first one", arguments: 0..<40)
        func patch(seed: Int) throws {
            var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
            func random(_ limit: Int) -> Int {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return Int(state % UInt64(limit))
            }
            let old = (0..<random(30)).map { _ in "\(random(6))" }
            var new = old
            for _ in 0..<random(6) {
                let place = random(new.count + 1)
                if place < new.count, random(2) == 0 {
                    new.remove(at: place)
                } else {
                    new.insert("x\(random(3))", at: place)
                }
            }
            let end = random(2) == 0 ? "\n" : ""
            let (before, after) = (
                old.joined(separator: "\n") + (old.isEmpty ? "" : "\n"),
                new.joined(separator: "\n") + (new.isEmpty ? "" : end)
            )
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("A.swift")
            try Data(before.utf8).write(to: file)
            let diff = UnifiedDiff(from: before, to: after, path: "A.swift").text
            guard !diff.isEmpty else {
                #expect(before == after)
                return
            }
            try Data(diff.utf8).write(to: folder.appendingPathComponent("A.diff"))
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "A.diff"]
            process.currentDirectoryURL = folder
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            let result = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            #expect(result == after)
        }
    }
#endif
