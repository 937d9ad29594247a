import Coral

/// The rows of a text in one of the forms.
struct TableRows {
    struct Field {
        let text: String
        let isQuoted: Bool

        /// An empty field without quotes has no value.
        var isNull: Bool { text.isEmpty && !isQuoted }
    }

    struct Row {
        /// The line on which the row begins, from 1.
        let line: Int
        let fields: [Field]
    }

    private let bytes: [UInt8]
    private let separator: UInt8
    /// The name of the file, for messages.
    private let name: String
    private var place = 0
    private var line = 1

    /// Throws `CommandError` for a text that is not UTF-8.
    init(_ data: Data, as form: TableForm, name: String) throws {
        var bytes = [UInt8](data)
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw CommandError("\(name) is in UTF-16. Save it as UTF-8.")
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        self.bytes = bytes
        separator = form.separator
        self.name = name
    }

    /// The next row; nil at the end. Empty lines are skipped. Throws `CommandError` with the line.
    mutating func next() throws -> Row? {
        while place < bytes.count {
            let start = line
            var fields = [try field()]
            while place < bytes.count, bytes[place] == separator {
                place += 1
                fields.append(try field())
            }
            endLine()
            if fields.count > 1 || !fields[0].isNull { return Row(line: start, fields: fields) }
        }
        return nil
    }

    private mutating func endLine() {
        guard place < bytes.count else { return }
        if bytes[place] == UInt8(ascii: "\r"), place + 1 < bytes.count, bytes[place + 1] == UInt8(ascii: "\n") {
            place += 1
        }
        place += 1
        line += 1
    }

    private mutating func field() throws -> Field {
        guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else {
            let start = place
            while place < bytes.count, ![separator, 13, 10].contains(bytes[place]) { place += 1 }
            return Field(text: try text(bytes[start..<place]), isQuoted: false)
        }
        let start = line
        place += 1
        var content: [UInt8] = []
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if byte == UInt8(ascii: "\"") {
                guard place < bytes.count, bytes[place] == byte else {
                    guard place == bytes.count || [separator, 13, 10].contains(bytes[place]) else {
                        throw CommandError("\(name), line \(line): there is text after the closing quote of a field.")
                    }
                    return Field(text: try text(content[...]), isQuoted: true)
                }
                place += 1
            } else if byte == 10 || byte == 13 && (place == bytes.count || bytes[place] != 10) {
                line += 1
            }
            content.append(byte)
        }
        throw CommandError("\(name), line \(start): the quote that begins a field is not closed.")
    }

    private func text(_ bytes: ArraySlice<UInt8>) throws -> String {
        guard let text = String(bytes: bytes, encoding: .utf8) else {
            throw CommandError("\(name), line \(line): the text is not UTF-8. Save the file as UTF-8.")
        }
        return text
    }
}
