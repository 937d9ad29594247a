import ChildProcesses
import Foundation

/// One run of the command.
struct CommandRun {
    let output: String
    let errors: String
    let status: Int32

    /// The command, which is built beside the tests.
    static let tool: URL = {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appendingPathComponent("coral")
    }()

    init(_ arguments: String...) throws { try self.init(arguments) }

    /// Runs a shell line in which `coral` is the command, and `$CORAL_FOLDER` its folder, for nested shells.
    init(shell line: String) throws {
        let folder = "CORAL_FOLDER=\"\(Self.tool.deletingLastPathComponent().path)\"; "
        try self.init(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "\(folder)coral() { \"\(Self.tool.path)\" \"$@\"; }; \(line)"])
    }

    init(_ arguments: [String], input: Data? = nil) throws { try self.init(Self.tool, arguments, input: input) }

    private init(_ tool: URL, _ arguments: [String], input: Data? = nil) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, because the command would wait for a full pipe to be read.
        let (output, errors) = (folder.appendingPathComponent("output"), folder.appendingPathComponent("errors"))
        let file = input.map { _ in folder.appendingPathComponent("input") }
        if let input, let file { try input.write(to: file) }
        status = try ChildProcess(tool, arguments, input: file, output: output, errors: errors).wait()
        self.output = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        self.errors = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
    }
}
