import Coral
import Foundation

/// Standard output. What a command shows goes through here.
enum StandardOutput {
    /// Writes text, on a terminal with its controls escaped. Throws `DocumentError` where it cannot be written: the disk is full,
    /// the reader has gone.
    static func write(_ text: String) throws {
        try Data(Terminal.text(text, on: .output).utf8).withUnsafeBytes { try stream.write($0) }
    }

    /// Writes the report of a change that has been made. Throws `UnreportedChange` where it cannot be written.
    static func report(_ text: String) throws {
        // A reader that has gone shall not end the program before it has said so.
        signal(SIGPIPE, SIG_IGN)
        do {
            try write(text)
        } catch {
            throw UnreportedChange(reason: ErrorText.text(of: error))
        }
    }

    /// Refuses to begin a change that could not be reported: where standard output is closed, or a pipe without a reader. That a
    /// disk is full shows only when the report is written.
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

    /// Standard output as a sink of bytes, for documents. On a terminal controls in them are escaped.
    static var sink: any ByteSink { Terminal.isConnected(.output) ? TerminalSink(stream) : stream }

    private static var stream: any ByteSink { FileDescriptorSink(descriptor: 1, name: "standard output") }
}

/// A change was made, and its report could not be written.
struct UnreportedChange: Error, CustomStringConvertible {
    /// Why it could not be written, as a sentence.
    let reason: String

    var description: String {
        "The change was made, but its report could not be written. \(reason) Do not repeat the command."
    }
}

/// Standard error: messages, warnings, progress.
enum StandardError {
    /// Writes text, on a terminal with its controls escaped.
    static func write(_ text: String) { draw(Terminal.text(text, on: .error)) }

    /// Writes text as it is: what moves the cursor of a terminal.
    static func draw(_ text: String) {
        // Where standard error is closed a message has no reader.
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

/// The three streams that every program has.
enum StandardStreams {
    /// Occupies the numbers of streams that are closed, so that no file that is opened later gets one of them, and with it what
    /// is written to the stream. Writing to a closed stream stays an error.
    static func occupyClosed() {
        for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is taken.
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }
}
