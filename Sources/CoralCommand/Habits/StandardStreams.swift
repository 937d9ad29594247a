import Coral

/// Standard output. What a command shows goes through here.
enum StandardOutput {
    /// Writes text, on a terminal with its controls escaped. Throws `DocumentError` where it cannot be written: the disk is full,
    /// the reader has gone.
    static func write(_ text: String) throws {
        try Data(Terminal.text(text, on: .output).utf8).withUnsafeBytes { try stream.write($0) }
    }

    /// Standard output as a sink of bytes, for documents. On a terminal controls in them are escaped.
    static var sink: any ByteSink { Terminal.isConnected(.output) ? TerminalSink(stream) : stream }

    private static var stream: any ByteSink { FileDescriptorSink(descriptor: 1, name: "standard output") }
}

/// Standard error: messages, warnings, progress.
enum StandardError {
    /// Writes text, on a terminal with its controls escaped.
    static func write(_ text: String) { draw(Terminal.text(text, on: .error)) }

    /// Writes text as it is: what moves the cursor of a terminal.
    static func draw(_ text: String) {
        // Where standard error is closed there is nobody who could be told.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    static func warn(_ sentence: String) {
        write("\(TextStyle.yellow.text("coral: warning:", on: .error)) \(sentence)\n")
    }

    /// Warns of the first of many things alike, and says how many more there are.
    static func warn(_ sentences: some Collection<String>, of count: Int) {
        for sentence in sentences.prefix(10) { warn(sentence) }
        if count > 10 { warn("There are \(Quantity.grouped(count - 10)) more places like these.") }
    }
}
