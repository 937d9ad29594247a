#if !canImport(Darwin)
    import ChildProcesses
    import Foundation
    import Testing

    /// Whole asynchronous programs, in processes of their own, in which every use of a context is checked. On Linux an
    /// asynchronous main continues on another thread than Foundation's main thread.
    @Suite struct AsyncProgramTests {
        private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Async-\(UUID().uuidString)")

        /// The output of the program, and its exit code or the signal that has ended it.
        private func run(_ mode: String) throws -> (output: String, errors: String, code: Int32) {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (output, errors) = (folder.appendingPathComponent("output"), folder.appendingPathComponent("errors"))
            let program = CommandRun.tool.deletingLastPathComponent().appendingPathComponent("async-program")
            let process = try ChildProcess(
                program,
                [
                    mode, folder.appendingPathComponent("Notes.sqlite").path, "-com.apple.CoreData.ConcurrencyDebug",
                    "1",
                ], output: output, errors: errors)
            let code = process.wait()
            return (
                try String(contentsOf: output, encoding: .utf8), try String(contentsOf: errors, encoding: .utf8), code
            )
        }

        @Test func `an asynchronous command uses contexts of all kinds`() throws {
            let result = try run("command")
            #expect(result.code == 0, "\(result.errors)")
            #expect(
                result.output
                    == "background context 1, background context, awaited 1, background task 1, child 1, main actor 1, "
                    + "perform 1, performAndWait 1\n")
        }

        @Test func `a server uses contexts of all kinds in concurrent requests`() throws {
            let result = try run("server")
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.output == "45 notes: background 15, child 15, main 15\n")
        }

        @Test func `a context outside of its queue stops the program`() throws {
            let result = try run("wrong")
            #expect(result.code != 0)
            #expect(result.errors.contains("concurrency violation"))
        }
    }
#endif
