import Foundation

/// Properties of the standard streams: whether they are terminals, and what these support.
enum Terminal {
    enum Stream: Int32 {
        case input = 0
        case output, error
    }

    /// Whether a stream is connected to a terminal.
    static func isConnected(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

    /// Whether text on a stream is coloured: if it is a terminal that supports it, unless the environment variables
    /// `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` determine otherwise, in this order.
    static func hasColours(_ stream: Stream) -> Bool {
        guard (variable("NO_COLOR") ?? "").isEmpty else { return false }
        if let forced = variable("CLICOLOR_FORCE"), !forced.isEmpty, forced != "0" { return true }
        return variable("CLICOLOR") != "0" && isConnected(stream) && variable("TERM") != "dumb"
    }

    /// The value of an environment variable. `ProcessInfo` would make a dictionary of all of them.
    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The number of characters in a line.
    static var width: Int {
        let columns = Int(size(of: .error).ws_col)
        return columns > 0 ? columns : 80
    }

    /// The number of lines of the terminal of standard output; 0 if it is unknown.
    static var height: Int { Int(size(of: .output).ws_row) }

    private static func size(of stream: Stream) -> winsize {
        var size = winsize()
        return ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0 ? size : winsize()
    }
}

extension Terminal {
    /// Text for a stream. If it is a terminal, control characters are escaped, except those of `TextStyle`.
    static func text(_ text: String, on stream: Stream) -> String {
        isConnected(stream) ? escaped(text) : TextStyle.applied(in: text)
    }

    /// Text with escaped control characters, except those of `TextStyle`.
    static func escaped(_ text: String) -> String {
        TextStyle.applied(in: TerminalEscaping.escaped(text))
    }
}

/// Text styles, used where `Terminal.hasColours`.
enum TextStyle: Int {
    case bold = 1
    case faint = 2
    case red = 31
    case green = 32
    case yellow = 33

    /// The placeholder of a style until the text is written. Values of a store cannot contain it, because it is
    /// different in each process.
    fileprivate static let mark = "<\(UUID().uuidString)>"

    /// Replaces the placeholders by the sequences that terminals interpret.
    fileprivate static func applied(in text: String) -> String {
        text.replacingOccurrences(of: mark, with: "\u{1B}[")
    }

    /// The text in this style, or unchanged if the stream supports none. For `StandardOutput.write` and
    /// `StandardError.write`.
    func text(_ text: String, on stream: Terminal.Stream = .output) -> String {
        Terminal.hasColours(stream) ? "\(Self.mark)\(rawValue)m\(text)\(Self.mark)0m" : text
    }
}
