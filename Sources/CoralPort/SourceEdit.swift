#if Macros
    import Foundation

    /// A replacement of a part of a file.
    struct SourceEdit: Equatable, Sendable {
        /// The part, in bytes of UTF-8.
        let range: Range<Int>
        let replacement: String

        init(_ range: Range<Int>, _ replacement: String) {
            self.range = range
            self.replacement = replacement
        }

        /// The replacements in the order of their places, none of which touches another. If some overlap, only the first of them is
        /// applied; a rewrite runs again for the others.
        static func disjoint(_ edits: [SourceEdit]) -> [SourceEdit] {
            // Stable, so that several insertions at one position keep their order.
            let sorted = edits.enumerated().sorted {
                ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
            }
            return sorted.reduce(into: []) { result, next in
                let edit = next.element
                guard let last = result.last, last.range.upperBound >= edit.range.lowerBound else {
                    return result.append(edit)
                }
                guard last.range.upperBound == edit.range.lowerBound else { return }
                result[result.count - 1] = SourceEdit(
                    last.range.lowerBound..<edit.range.upperBound, last.replacement + edit.replacement)
            }
        }

        /// The text after the replacements, those that are ``disjoint(_:)``.
        static func apply(_ edits: [SourceEdit], to text: String) -> String {
            let bytes = Array(text.utf8)
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            var end = 0
            for edit in disjoint(edits) {
                result += bytes[end..<edit.range.lowerBound]
                result += edit.replacement.utf8
                end = edit.range.upperBound
            }
            result += bytes[end...]
            return String(decoding: result, as: UTF8.self)
        }
    }

    /// The text of a file before it is parsed.
    struct SourceText: Sendable {
        /// The text without a byte order mark.
        let text: String
        let hasByteOrderMark: Bool

        /// - Throws: ``PortError`` if the file is not UTF-8 or cannot be read.
        init(contentsOf url: URL) throws {
            let data: Data
            do {
                data = try Data(contentsOf: url)
            } catch {
                throw PortError("\(url.path) cannot be read: \(error.localizedDescription)")
            }
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            hasByteOrderMark = data.starts(with: mark)
            guard let text = String(data: hasByteOrderMark ? data.dropFirst(mark.count) : data, encoding: .utf8) else {
                throw PortError("\(url.path) is not UTF-8.")
            }
            self.text = text
        }

        /// Whether brackets or `#if` are nested so deeply that the parser, which is recursive, could exhaust the stack. Brackets in
        /// strings and comments are counted too.
        var isDeep: Bool {
            var (brackets, conditions) = (0, 0)
            var previous: (UInt8, UInt8, UInt8) = (0, 0, 0)
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): brackets += 1
                case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): brackets = max(0, brackets - 1)
                case UInt8(ascii: "f") where previous.1 == UInt8(ascii: "#") && previous.2 == UInt8(ascii: "i"):
                    conditions += 1
                case UInt8(ascii: "n") where previous.1 == UInt8(ascii: "#") && previous.2 == UInt8(ascii: "e"):
                    conditions = max(0, conditions - 1)
                default: break
                }
                if max(brackets, conditions) > Self.deepest { return true }
                previous = (previous.1, previous.2, byte)
            }
            return false
        }

        private static let deepest = 200
    }
#endif
