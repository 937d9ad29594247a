import Foundation

/// Shows long text in a terminal with the user's program for paging: that of the environment variable `PAGER`, by default
/// `less`, if standard output is a terminal with fewer lines than the text. An empty `PAGER`, or `cat`, means no paging.
final class Pager {
    /// The user has ended the program before the end of the text, which is not needed any more.
    struct Ended: Error {}

    private let height: Int
    /// The text until it has more lines than the terminal.
    private var start = ""
    private var lineCount = 0
    private var program: (process: Process, pipe: FileHandle)?
    private var isPaged: Bool

    init() {
        height = Terminal.height
        isPaged = Terminal.isConnected(.output) && Terminal.isConnected(.input) && height > 0
    }

    /// Writes a whole text. Throws as `StandardOutput.write` does.
    static func write(_ text: String) throws {
        let pager = Pager()
        do { try pager.add(text) } catch is Ended {}
        try pager.finish()
    }

    /// Adds text. Throws `Ended`, and as `StandardOutput.write` does.
    func add(_ text: String) throws {
        guard isPaged else { return try StandardOutput.write(text) }
        if let program { return try send(text, to: program.pipe) }
        start += text
        lineCount += text.utf8.count { $0 == UInt8(ascii: "\n") }
        if lineCount >= height { try begin() }
    }

    /// Ends the text, and waits until the user has read it.
    func finish() throws {
        if let program {
            try? program.pipe.close()
            return program.process.waitUntilExit()
        }
        try StandardOutput.write(start)
        start = ""
    }

    private func begin() throws {
        guard let command = Self.command else {
            isPaged = false
            try StandardOutput.write(start)
            start = ""
            return
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        // Less quits if the text fits, keeps colours, and does not clear the screen.
        process.environment = ProcessInfo.processInfo.environment.merging(["LESS": "FRX"]) { own, _ in own }
        let pipe = Pipe()
        process.standardInput = pipe
        // If the user ends the program early, writing to it is an error.
        signal(SIGPIPE, SIG_IGN)
        guard (try? process.run()) != nil else {
            isPaged = false
            return try StandardOutput.write(start)
        }
        program = (process, pipe.fileHandleForWriting)
        try send(start, to: pipe.fileHandleForWriting)
    }

    private func send(_ text: String, to pipe: FileHandle) throws {
        do {
            try pipe.write(contentsOf: Data(Terminal.text(text, on: .output).utf8))
        } catch {
            throw Ended()
        }
    }

    private static var command: String? {
        let named = ProcessInfo.processInfo.environment["PAGER"] ?? "less"
        let name = named.trimmingCharacters(in: .whitespaces)
        return name.isEmpty || name == "cat" || !isFound(name) ? nil : name
    }

    /// Whether the program of a command exists. Text that is sent to the shell would be lost without it.
    private static func isFound(_ command: String) -> Bool {
        let program = command.prefix { !$0.isWhitespace }
        // An assignment before the program.
        if program.contains("=") { return true }
        let folders =
            program.contains("/") ? [""] : (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.contains {
            FileManager.default.isExecutableFile(atPath: $0.isEmpty ? "\(program)" : "\($0)/\(program)")
        }
    }
}
