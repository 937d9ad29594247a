#if Macros
    import Foundation
    import ModelCodeGeneration
    import SwiftParser
    import SwiftSyntax

    /// A file of a package that may have been rewritten.
    package protocol RewrittenFile: Sendable {
        var url: URL { get }
        /// The text that was read, without a byte order mark.
        var original: String { get }
        /// The text with the changes so far.
        var text: String { get }
        /// The text as it is written to the file.
        var data: Data { get }
    }

    extension RewrittenFile {
        var isChanged: Bool { text != original }
    }

    /// A Swift file of a package, with its syntax tree.
    package struct SourceFile: RewrittenFile {
        package let url: URL
        /// The folder of the file's module: `Sources/Name`, `Tests/Name`, or the package's own folder.
        let module: String
        package let original: String
        private let hasByteOrderMark: Bool
        package private(set) var text: String
        /// The syntax tree, with what its next parse needs to reuse the parts that have not changed.
        private var parsed: IncrementalParseResult
        var tree: SourceFileSyntax { parsed.tree }
        /// The declarations of the file, collected once for each state of the text.
        private(set) var declarations: SourceDeclarations

        init(_ text: SourceText, url: URL, module: String) {
            self.init(text: text.text, url: url, module: module, hasByteOrderMark: text.hasByteOrderMark)
        }

        init(
            text: String, url: URL = URL(fileURLWithPath: "File.swift"), module: String = "",
            hasByteOrderMark: Bool = false
        ) {
            self.url = url
            self.module = module
            self.hasByteOrderMark = hasByteOrderMark
            original = text
            self.text = text
            parsed = Parser.parseIncrementally(source: text, parseTransition: nil)
            declarations = SourceDeclarations(of: parsed.tree)
        }

        package var data: Data { Data((hasByteOrderMark ? "\u{FEFF}" : "").utf8) + Data(text.utf8) }

        /// The line break of the file.
        var lineBreak: String { original.utf8.contains(13) ? "\r\n" : "\n" }

        mutating func apply(_ edits: [SourceEdit]) {
            let edits = SourceEdit.disjoint(edits)
            text = SourceEdit.apply(edits, to: text)
            let changes = edits.map { edit in
                SwiftSyntax.SourceEdit(
                    range: AbsolutePosition(
                        utf8Offset: edit.range.lowerBound)..<AbsolutePosition(utf8Offset: edit.range.upperBound),
                    replacement: edit.replacement)
            }
            let transition = (try? ConcurrentEdits(concurrent: changes)).map {
                IncrementalParseTransition(previousIncrementalParseResult: parsed, edits: $0)
            }
            parsed = Parser.parseIncrementally(source: text, parseTransition: transition)
            declarations = SourceDeclarations(of: tree)
        }

        /// The file after replacements.
        func applying(_ edits: [SourceEdit]) -> SourceFile {
            var file = self
            file.apply(edits)
            return file
        }

        /// Whether the text, up to a character NUL, contains another one.
        func contains(_ other: String) -> Bool { text.containsBytes(of: other) }

        // MARK: - Positions

        /// The white space at the beginning of the line of a position.
        func indentation(at offset: Int) -> String {
            let utf8 = text.utf8
            let position = utf8.index(utf8.startIndex, offsetBy: offset)
            let line = utf8[..<position].lastIndex(of: 10).map { utf8.index(after: $0) } ?? utf8.startIndex
            return String(decoding: utf8[line...].prefix { $0 == 32 || $0 == 9 }, as: UTF8.self)
        }

        /// Whether only white space precedes a position in its line.
        func beginsLine(_ offset: Int) -> Bool {
            let utf8 = text.utf8
            let before = utf8[..<utf8.index(utf8.startIndex, offsetBy: offset)].reversed().drop { $0 == 32 || $0 == 9 }
            return before.first == nil || before.first == 10
        }

        /// Whether only white space follows a position in its line.
        func endsLine(_ offset: Int) -> Bool {
            let utf8 = text.utf8
            let after = utf8[utf8.index(utf8.startIndex, offsetBy: offset)...].drop { $0 == 32 || $0 == 9 }
            return after.first == nil || after.first == 10 || after.first == 13
        }

        /// A statement or a member that is written twice, for each kind of platform in a branch of `#if`, because a part differs;
        /// nil if it is too long, or does not begin its line.
        func conditional(around node: some SyntaxProtocol, replacing part: Range<Int>, by replacement: String)
            -> SourceEdit?
        {
            let statement: Syntax? =
                [
                    node.enclosing(CodeBlockItemSyntax.self).map(Syntax.init),
                    node.enclosing(MemberBlockItemSyntax.self).map(Syntax.init),
                ]
                .compactMap(\.self).max { $0.position < $1.position }
            guard let statement, beginsLine(statement.codeRange.lowerBound) else { return nil }
            let text = statement.trimmedDescription
            guard text.split(whereSeparator: \.isNewline).count <= Self.longestStatement else { return nil }
            let range = statement.codeRange
            let shifted = (part.lowerBound - range.lowerBound)..<(part.upperBound - range.lowerBound)
            return SourceEdit(
                range,
                conditional(
                    text, else: SourceEdit.apply([SourceEdit(shifted, replacement)], to: text),
                    indentation: indentation(at: range.lowerBound)))
        }

        /// The members of a type, of which a part of a statement of any length consists, as `.isMainThread` of `Thread`: one for each kind
        /// of platform in a branch of `#if`, which may stand behind a name.
        func conditionalMembers(of node: MemberAccessExprSyntax, else other: String) -> SourceEdit {
            let text = node.trimmedDescription
            let name = text.prefix { $0 != "." }
            let indentation = indentation(at: node.codeRange.lowerBound)
            let lines = [String(name), "#if canImport(ObjectiveC)", String(text.dropFirst(name.count)), "#else", other]
            return SourceEdit(
                node.codeRange, (lines + ["#endif", ""]).joined(separator: lineBreak + indentation))
        }

        /// The maximum number of lines of a statement that is written twice.
        static let longestStatement = 6

        /// Lines around a text that is kept on Apple's platforms, and the text for other platforms.
        func conditional(_ apple: String, else other: String, indentation: String) -> String {
            let separator = lineBreak + indentation
            return ["#if canImport(ObjectiveC)", apple, "#else", other, "#endif"].joined(separator: separator)
        }
    }

    extension SyntaxProtocol {
        /// The part of the file, without the white space and comments around it.
        var codeRange: Range<Int> {
            positionAfterSkippingLeadingTrivia.utf8Offset..<endPositionBeforeTrailingTrivia.utf8Offset
        }

        /// The part of the file, with the white space and comments that belong to it.
        var wholeRange: Range<Int> { position.utf8Offset..<endPosition.utf8Offset }
    }
#endif
