import Foundation

/// Shows long text in a terminal with the user's program for paging.
enum Pager {
    /// Writes text with the program of the environment variable `PAGER`, by default `less`, if standard output is a
    /// terminal with fewer lines than the text; otherwise directly. An empty `PAGER`, or `cat`, means no paging.
    ///
    /// Throws as `StandardOutput.write` does.
    static func write(_ text: String) throws {
        let height = Terminal.height
        guard Terminal.isConnected(.output), Terminal.isConnected(.input), height > 0,
            text.utf8.lazy.filter({ $0 == UInt8(ascii: "\n") }).count >= height, let program = command
        else { return try StandardOutput.write(text) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", program]
        // Less quits if the text fits, keeps colours, and does not clear the screen.
        process.environment = ProcessInfo.processInfo.environment.merging(["LESS": "FRX"]) { own, _ in own }
        let pipe = Pipe()
        process.standardInput = pipe
        // If the user ends the program early, the rest of the text is not needed.
        signal(SIGPIPE, SIG_IGN)
        guard (try? process.run()) != nil else { return try StandardOutput.write(text) }
        try? pipe.fileHandleForWriting.write(contentsOf: Data(Terminal.text(text, on: .output).utf8))
        try? pipe.fileHandleForWriting.close()
        process.waitUntilExit()
        // The shell did not find the program.
        if process.terminationStatus == 127 { try StandardOutput.write(text) }
    }

    private static var command: String? {
        guard let named = ProcessInfo.processInfo.environment["PAGER"] else { return "less" }
        let name = named.trimmingCharacters(in: .whitespaces)
        return name.isEmpty || name == "cat" ? nil : name
    }
}
