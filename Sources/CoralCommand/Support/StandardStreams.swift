import Coral
import Foundation

/// Standard output, for all results of commands.
enum StandardOutput {
    /// Writes text, with escaped control characters if it is a terminal. Throws `DocumentError` if it cannot be
    /// written: the disk is full, or the reader has closed the pipe.
    static func write(_ text: String) throws {
        try Data(Terminal.text(text, on: .output).utf8).withUnsafeBytes { try stream.write($0) }
    }

    /// Writes the report of a completed change. Throws `UnreportedChange` if it cannot be written.
    static func report(_ text: String) throws {
        // If the reader has closed the pipe, the error must be reported, so SIGPIPE must not end the program.
        signal(SIGPIPE, SIG_IGN)
        do {
            try write(text)
        } catch {
            throw UnreportedChange(reason: ErrorText.text(of: error))
        }
    }

    /// Checks before a change that it can be reported: standard output must not be closed, and must not be a pipe
    /// without a reader. A full disk is detected only when the report is written.
    ///
    /// Throws `CommandError`.
    static func requireOpen() throws {
        let mode = fcntl(1, F_GETFL)
        var stream = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
        let isBroken = poll(&stream, 1, 0) > 0 && stream.revents & Int16(POLLERR | POLLNVAL) != 0
        guard mode >= 0, mode & O_ACCMODE != O_RDONLY, !isBroken else {
            throw CommandError(
                "Standard output is closed, so that the change could not be reported. Nothing was changed.")
        }
    }

    /// Standard output as a byte sink for documents. If it is a terminal, control characters are escaped.
    static var sink: any ByteSink { Terminal.isConnected(.output) ? TerminalSink(stream) : stream }

    /// Whether anything has been written. Unsafe, because a command writes from one thread at a time, and this is read
    /// when it has ended.
    nonisolated(unsafe) fileprivate(set) static var hasOutput = false

    private static var stream: any ByteSink { captured ?? StandardOutputSink() }

    /// Receives the output instead. Unsafe, because a command writes from one thread at a time, and this is set when none runs.
    nonisolated(unsafe) private static var captured: (any ByteSink)?

    /// Runs a part of a program whose output another sink receives.
    static func capturing(_ sink: any ByteSink, _ body: () throws -> Void) rethrows {
        captured = sink
        defer { captured = nil }
        try body()
    }
}

/// The sink of all output. Records whether anything has been written.
private final class StandardOutputSink: ByteSink {
    private let sink = FileDescriptorSink(descriptor: 1, name: "standard output")

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        if !bytes.isEmpty { StandardOutput.hasOutput = true }
        try sink.write(bytes)
    }

    func finish() throws { try sink.finish() }
}

/// A change was made, but its report could not be written.
struct UnreportedChange: Error, CustomStringConvertible {
    /// The reason, as a sentence.
    let reason: String

    var description: String {
        "The change was made, but its report could not be written. \(reason) Do not repeat the command."
    }
}

/// Standard error, for messages, warnings and progress.
enum StandardError {
    /// Writes text, with escaped control characters if it is a terminal.
    static func write(_ text: String) { draw(Terminal.text(text, on: .error)) }

    /// Whether reports and progress are omitted. Unsafe, because it is set only while the arguments are parsed, when
    /// there is no other thread.
    nonisolated(unsafe) static var isQuiet = false

    /// Reports what a command has done, unless `--quiet` is given.
    static func report(_ sentence: String) { if !isQuiet { write("\(sentence)\n") } }

    /// Writes text unchanged, including terminal control sequences.
    static func draw(_ text: String) {
        // If standard error is closed, messages are discarded.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    static func warn(_ sentence: String) {
        write("\(TextStyle.yellow.text("coral: warning:", on: .error)) \(sentence)\n")
    }

    /// Warns of the first of many similar problems, and reports the number of the others.
    static func warn(_ sentences: some Collection<String>, of count: Int) {
        for sentence in sentences.prefix(10) { warn(sentence) }
        if count > 10 { warn("There are \(Quantity.grouped(count - 10)) more of these.") }
    }
}

/// The three standard streams.
enum StandardStreams {
    /// Opens closed standard streams, so that no file that is opened later gets one of their descriptors and receives
    /// the stream's output. Writing to such a stream remains an error.
    static func occupyClosed() {
        for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
            // The system assigns the lowest free descriptor.
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }
}
