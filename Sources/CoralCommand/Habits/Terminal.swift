import Foundation

/// Properties of the standard streams: whether they are terminals, and what these support.
enum Terminal {
    enum Stream: Int32 {
        case input = 0
        case output, error
    }

    /// Whether a stream is connected to a terminal.
    static func isConnected(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

    /// Whether text on a stream may be coloured: if it is a terminal that supports it and NO_COLOR is not set.
    static func hasColours(_ stream: Stream) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        return isConnected(stream) && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// The number of characters in a line.
    static var width: Int {
        var size = winsize()
        guard ioctl(Stream.error.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

extension Terminal {
    /// Text for a stream. If it is a terminal, control characters are escaped, except those of `TextStyle`.
    static func text(_ text: String, on stream: Stream) -> String {
        isConnected(stream) ? escaped(text) : text
    }

    /// Text with escaped control characters, except those of `TextStyle`.
    static func escaped(_ text: String) -> String {
        TerminalEscaping.escaped(text).replacingOccurrences(of: TextStyle.mark, with: "\u{1B}[")
    }
}

/// Text styles, used on terminals only.
enum TextStyle: Int {
    case bold = 1
    case faint = 2
    case red = 31
    case green = 32
    case yellow = 33

    /// The placeholder of a style until the text is written. Values of a store cannot contain it, because it is
    /// different in each process.
    fileprivate static let mark = "<\(UUID().uuidString)>"

    /// The text in this style, or unchanged if the stream supports none. For `StandardOutput.write` and
    /// `StandardError.write`.
    func text(_ text: String, on stream: Terminal.Stream = .output) -> String {
        Terminal.hasColours(stream) ? "\(Self.mark)\(rawValue)m\(text)\(Self.mark)0m" : text
    }
}
