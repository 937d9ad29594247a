#if Macros
    /// A replacement of a part of a file.
    struct SourceEdit: Equatable {
        /// The part, in bytes of UTF-8.
        let range: Range<Int>
        let replacement: String

        init(_ range: Range<Int>, _ replacement: String) {
            self.range = range
            self.replacement = replacement
        }

        /// The text after the replacements. If some overlap, only the first of them is applied; a rewrite runs again for the
        /// others.
        static func apply(_ edits: [SourceEdit], to text: String) -> String {
            let bytes = Array(text.utf8)
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            var end = 0
            // Stable, so that several insertions at one position keep their order.
            let sorted = edits.enumerated().sorted {
                ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
            }
            for edit in sorted.map(\.element) where edit.range.lowerBound >= end {
                result += bytes[end..<edit.range.lowerBound]
                result += edit.replacement.utf8
                end = edit.range.upperBound
            }
            result += bytes[end...]
            return String(decoding: result, as: UTF8.self)
        }
    }
#endif
