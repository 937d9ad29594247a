#if Macros
    import Foundation

    /// The text of a file before it is parsed.
    struct SourceText {
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
