#if STORE_ENGINE

    import Foundation
    import struct StoreTools.StoreExamination

    /// The SELECT statements of a log: the part of each line from SELECT on. Statements that differ in their literals only are one.
    ///
    /// The file is read piece by piece. Memory depends on the number of different statements, whose texts are kept up to
    /// ``textLimit``.
    struct StatementTrace {
        private(set) var statements: [StoreExamination.Statement] = []

        /// The greatest size of all texts together, in bytes.
        private static let textLimit = 16 << 20
        /// The greatest length of a line, in bytes. A longer one is not a statement of Core Data's.
        private static let lineLimit = 1 << 20
        private static let pieceLength = 1 << 16

        /// Reads a trace.
        ///
        /// Throws `CommandError` if the file cannot be read, contains no statement, or contains too many.
        init(at path: String) throws {
            var forms: [String: (text: String, count: Int)] = [:]
            var order: [String] = []
            var size = 0
            do {
                try Self.forEachLine(of: path) { line in
                    guard let text = Self.statement(in: line) else { return }
                    let form = Self.form(of: text)
                    guard forms[form] == nil else {
                        forms[form]?.count += 1
                        return
                    }
                    size += text.utf8.count + form.utf8.count
                    guard size <= Self.textLimit else {
                        throw CommandError(
                            "The trace at \(path) contains too many different statements: divide it into several files."
                        )
                    }
                    forms[form] = (text, 1)
                    order.append(form)
                }
            } catch let error as CommandError {
                throw error
            } catch {
                throw CommandError("The trace at \(path) cannot be read.")
            }
            guard !order.isEmpty else { throw CommandError("The trace at \(path) contains no SELECT statement.") }
            statements = order.compactMap { form in
                forms[form].map { StoreExamination.Statement($0.text, count: $0.count) }
            }
        }

        /// The part of a line from SELECT on.
        private static func statement(in line: Data) -> String? {
            let word = Array("select ".utf8)
            let bytes = Array(line)
            guard bytes.count >= word.count else { return nil }
            // A letter differs from its capital in this bit.
            let start = (0...bytes.count - word.count).first { start in
                word.indices.allSatisfy { bytes[start + $0] | 0x20 == word[$0] }
            }
            return start.map { String(decoding: bytes[$0...], as: UTF8.self) }
        }

        private static func forEachLine(of path: String, _ body: (Data) throws -> Void) throws {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            var rest = Data()
            var isTooLong = false
            func end(_ line: Data) throws {
                if !isTooLong { try body(line) }
                isTooLong = false
            }
            while let piece = try file.read(upToCount: pieceLength), !piece.isEmpty {
                let lines = piece.split(
                    maxSplits: .max, omittingEmptySubsequences: false, whereSeparator: { $0 == 10 || $0 == 13 })
                for line in lines.dropLast() {
                    try end(rest + line)
                    rest = Data()
                }
                if let last = lines.last { rest += last }
                if rest.count > lineLimit { (rest, isTooLong) = (Data(), true) }
            }
            try end(rest)
        }

        /// The statement with a question mark for each literal, and for each list of literals.
        private static func form(of statement: String) -> String {
            var form: [UInt8] = []
            var bytes = Array(statement.utf8)[...]
            while let byte = bytes.popFirst() {
                switch byte {
                case UInt8(ascii: "'"):
                    // Two quotes within a text end it and begin the next one, which gives the same form.
                    while let next = bytes.popFirst(), next != UInt8(ascii: "'") {}
                    appendLiteral(to: &form)
                case UInt8(ascii: "0")...UInt8(ascii: "9") where !isPartOfName(form.last):
                    while let next = bytes.first, isPartOfName(next) || next == UInt8(ascii: ".") {
                        bytes.removeFirst()
                    }
                    appendLiteral(to: &form)
                default: form.append(byte)
                }
            }
            return String(decoding: form, as: UTF8.self)
        }

        /// Appends a question mark, unless it would be the next element of a list.
        private static func appendLiteral(to form: inout [UInt8]) {
            for separator in [", ", ",", ""]
            where form.suffix(separator.utf8.count + 1).elementsEqual(("?" + separator).utf8) {
                form.removeLast(separator.utf8.count)
                return
            }
            form.append(UInt8(ascii: "?"))
        }

        private static func isPartOfName(_ byte: UInt8?) -> Bool {
            guard let byte else { return false }
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
                return true
            default: return false
            }
        }
    }

#endif
