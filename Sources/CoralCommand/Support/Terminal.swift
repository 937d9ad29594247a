import AtomicFiles
import Coral

/// Properties of the standard streams: whether they are terminals, and what these support.
enum Terminal {
    enum Stream: Int32 {
        case input = 0
        case output, error
    }

    /// Whether a stream is connected to a terminal.
    static func isConnected(_ stream: Stream) -> Bool { areConnected[Int(stream.rawValue)] }

    private static let areConnected = (Int32(0)...2).map { isatty($0) == 1 }

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

    /// Text of a store for a stream: without styles.
    static func safe(_ text: String, on stream: Stream) -> String {
        isConnected(stream) ? TerminalEscaping.escaped(text) : text
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
        guard text.utf8.contains(UInt8(ascii: "<")) else { return text }
        return text.replacingOccurrences(of: mark, with: "\u{1B}[")
    }

    /// The text in this style, or unchanged if the stream supports none. For `StandardOutput.write` and
    /// `StandardError.write`.
    func text(_ text: String, on stream: Terminal.Stream = .output) -> String {
        Terminal.hasColours(stream) ? "\(Self.mark)\(rawValue)m\(text)\(Self.mark)0m" : text
    }
}

/// Questions to the user at the terminal.
enum Confirmation {
    /// Asks for confirmation. Without a terminal, as in a script, the result is false.
    static func isGiven(_ question: String) -> Bool {
        guard Terminal.isConnected(.input), Terminal.isConnected(.error) else { return false }
        StandardError.write("\(question) [y/N] ")
        return ["y", "yes"].contains((readLine() ?? "").trimmingCharacters(in: .whitespaces).lowercased())
    }

    /// The kind of output of a command.
    enum Output {
        case document
        /// A store, including its companion files.
        case store
        /// A model, which may be a bundle and therefore a folder.
        case model
    }

    /// Asks for confirmation before a file is replaced, unless replacing is forced.
    ///
    /// - Parameter inputs: The files that are read and must not be replaced.
    /// - Returns: Whether the output may replace a file. If not, one that appears while the command works must be kept.
    /// Throws `CommandError` if an input would be replaced, if a file exists and replacing is not confirmed, and for a
    /// folder that is not a model.
    @discardableResult
    static func requireFree(
        _ path: String, for output: Output = .document, reading inputs: [URL?] = [], isForced: Bool
    ) throws -> Bool {
        guard !ServerURLs.isOne(path) else {
            throw CommandError("The output of this command is a file, and not a store in PostgreSQL.")
        }
        let url = URL(fileURLWithPath: path)
        guard !ReadFiles(inputs).wouldBeReplaced(by: url, isStore: output == .store) else {
            throw CommandError("The output to \(path) would replace its input. Name another file.")
        }
        guard let status = FileStatus(path) else { return isForced }
        if status.isFolder, output != .model || !(ModelSource.isModelFile(url) || MappingFiles.isMapping(url)) {
            throw CommandError("There is a folder at \(path). Name a file to write, in it or elsewhere.")
        }
        if output != .document, !status.isFolder, !status.isRegular {
            throw CommandError("There is a device or a pipe at \(path). Name a file to write.")
        }
        // Writing to a device or a pipe destroys nothing.
        guard !isForced, status.isFolder || status.isRegular else { return true }
        guard isGiven("There is a file at \(path). Replace it?") else {
            throw CommandError("There is a file at \(path). Use --force to replace it.")
        }
        return true
    }

    /// Asks for confirmation before a store is replaced, and returns what the new store may replace. Throws as
    /// `requireFree(_:for:reading:isForced:)` does.
    static func occupant(
        _ path: String, reading inputs: [URL?] = [], isForced: Bool
    ) throws -> StoreCreation.Occupant {
        try requireFree(path, for: .store, reading: inputs, isForced: isForced) ? .file : .nothing
    }
}
