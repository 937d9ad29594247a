#if Macros
    import Foundation
    import ModelCodeGeneration

    /// A file of C or Objective-C. What uses Apple's headers in it is compiled on Apple's platforms alone: `#ifdef __APPLE__` around
    /// all that follows the file's first comment.
    struct CSourceFile: RewrittenFile {
        let url: URL
        let original: String
        private(set) var text: String
        private let hasByteOrderMark: Bool

        init(_ text: SourceText, url: URL) {
            self.url = url
            original = text.text
            self.text = text.text
            hasByteOrderMark = text.hasByteOrderMark
        }

        var data: Data { Data((hasByteOrderMark ? "\u{FEFF}" : "").utf8) + Data(text.utf8) }

        /// Closes the files that need Apple's headers to other platforms: those that include one, those of Objective-C, and those that
        /// include such a file of the package.
        static func close(_ files: inout [CSourceFile]) {
            var closed: Set<String> = []
            var open = Array(files.indices)
            var count = -1
            while closed.count != count {
                count = closed.count
                open.removeAll { index in
                    guard files[index].needsApple(closed) else { return false }
                    closed.insert(files[index].url.lastPathComponent)
                    files[index].close()
                    return true
                }
            }
            for index in open { files[index].closeConditions() }
        }

        private func needsApple(_ closed: Set<String>) -> Bool {
            let code = CCode(text)
            if ["m", "mm"].contains(url.pathExtension) { return code.isCompiled }
            return code.includes.contains { include in
                include.isApples && !Self.isConditions(include)
                    || closed.contains(include.path.split(separator: "/").last.map(String.init) ?? "")
            }
        }

        /// Whether a header has macros for `#if` alone, which are 0 where they are not defined.
        private static func isConditions(_ include: CCode.Include) -> Bool { include.path == "TargetConditionals.h" }

        private mutating func close() { enclose((CCode(text).firstLine ?? 0)...) }

        /// Closes the includes of headers with conditions.
        private mutating func closeConditions() {
            for include in CCode(text).includes.reversed() where Self.isConditions(include) {
                enclose(include.line...include.line)
            }
        }

        private mutating func enclose(_ range: some RangeExpression<Int>) {
            var lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            // The line break at the end of the text is followed by an empty line.
            if lines.last == "" { lines.removeLast() }
            let range = range.relative(to: lines)
            let end = original.utf8.contains(13) ? "\r" : ""
            lines.insert("#endif" + end, at: range.upperBound)
            lines.insert("#ifdef __APPLE__" + end, at: range.lowerBound)
            text = lines.map { $0 + "\n" }.joined()
        }
    }
#endif
