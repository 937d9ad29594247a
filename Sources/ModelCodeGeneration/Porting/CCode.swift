/// The code of a file of C or Objective-C.
package struct CCode {
    /// An include or an import, in code that is compiled outside Apple's platforms.
    package struct Include {
        /// The line and the column, starting at 0; columns count bytes.
        package let line: Int
        let column: Int
        let code: String
        /// The path of the header, such as `mach/mach.h`, or the name of the module.
        package let path: String
        /// Whether the path is in quotation marks: a header of the package.
        let isOwn: Bool

        /// Whether the header or the module comes with Apple's platforms only.
        package var isApples: Bool { !isOwn && PortingRule.isAppleHeader(path) }
    }

    package private(set) var includes: [Include] = []
    /// Whether other platforms compile anything of the file.
    package private(set) var isCompiled = false
    /// The first line that is not a comment, starting at 0.
    package private(set) var firstLine: Int?

    /// Finds the includes of a text.
    package init(_ text: String) {
        var conditions = ConditionStack()
        let texts = SwiftCode.texts(of: text)
        for (number, line) in SwiftCode.lines(of: text).enumerated() {
            guard let column = line.firstIndex(where: { !SwiftCode.isSpace($0) }) else { continue }
            if firstLine == nil { firstLine = number }
            if conditions.take(line) || !conditions.isCompiled { continue }
            isCompiled = true
            guard "#@".utf8.contains(line[column]) else { continue }
            let code = String(decoding: line[column...], as: UTF8.self)
            let words = code.split { $0.isWhitespace || "#@<>;".contains($0) }
            guard let directive = words.first, directive == "include" || directive == "import" else { continue }
            // A path in quotation marks is blank in the code.
            let quoted = String(decoding: texts[number], as: UTF8.self).split(separator: "\"").dropFirst().first
            guard let path = words.dropFirst().first ?? quoted else { continue }
            includes.append(
                Include(
                    line: number, column: column, code: code.split(separator: " ").joined(separator: " "),
                    path: String(path), isOwn: words.count == 1))
        }
    }
}
