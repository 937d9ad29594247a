import Foundation

/// What is known of who reads: a person at a terminal, or a file or another program.
enum Terminal {
    enum Stream: Int32 {
        case input = 0
        case output, error
    }

    /// Whether a stream is connected to a terminal.
    static func isConnected(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

    /// Whether text on a stream may be coloured: on a terminal that is able to, unless NO_COLOR is set.
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
    /// Text as a stream gets it. On a terminal controls are escaped, wherever they come from, but for those of `TextStyle`.
    static func text(_ text: String, on stream: Stream) -> String {
        guard isConnected(stream) else { return text }
        return TerminalEscaping.escaped(text).replacingOccurrences(of: TextStyle.mark, with: "\u{1B}[")
    }
}

/// Ways to set off text, on terminals only.
enum TextStyle: Int {
    case bold = 1
    case faint = 2
    case red = 31
    case green = 32
    case yellow = 33

    /// What a style begins with until the text is written: no value of a store contains it, as it is another in each process.
    fileprivate static let mark = "<\(UUID().uuidString)>"

    /// The text in this style, or as it is where the stream shows none. For `StandardOutput.write` and `StandardError.write`.
    func text(_ text: String, on stream: Terminal.Stream = .output) -> String {
        Terminal.hasColours(stream) ? "\(Self.mark)\(rawValue)m\(text)\(Self.mark)0m" : text
    }
}
