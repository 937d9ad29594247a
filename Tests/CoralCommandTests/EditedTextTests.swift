import Foundation
import GRDB
import Testing

@testable import CoralCommand

/// The forms of `coral serve` and texts that HTML or a browser would change.
@Suite struct EditedTextTests {
    /// The fields of the title in the page of the only note, as a browser sends them; nil for a text that is not edited.
    private func form(in page: String) throws -> [String: String]? {
        // HTML consists of scalars: a quote and a combining mark after it are one `Character`.
        let textArea = /<textarea rows="4" name="value\.title"[^>]*>\n([^<]*)<\/textarea>/
        let area = page.firstMatch(of: textArea.matchingSemantics(.unicodeScalar))?.1
        let input = /<input type="text" value="([^"]*)"[^>]*name="value\.title"/
        let line = page.firstMatch(of: input.matchingSemantics(.unicodeScalar))?.1
        guard let value = area ?? line else { return nil }
        var fields = ["id": "Note/p1", "value.title": sent(String(value)), "return": "", "save": "1"]
        let hiddenInput = /<input type="hidden" name="([a-z]+\.title)" value="([^"]*)">/
        for hidden in page.matches(of: hiddenInput.matchingSemantics(.unicodeScalar)) {
            fields[String(hidden.1)] = sent(String(hidden.2))
        }
        return fields
    }

    /// What a browser sends for a value in HTML: references are characters, and each line break is CR and LF.
    private func sent(_ html: String) -> String {
        var text = html
        for match in html.matches(of: /&#(\d+);/.matchingSemantics(.unicodeScalar)) {
            let scalar = UInt32(match.1).flatMap(Unicode.Scalar.init)
            text = text.replacingOccurrences(
                of: String(match.0), with: scalar.map { String(Character($0)) } ?? "", options: .literal)
        }
        for (name, character) in [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")] {
            text = text.replacingOccurrences(of: name, with: character, options: .literal)
        }
        var bytes: [UInt8] = []
        var isAfterReturn = false
        for byte in text.utf8 {
            switch byte {
            case 13: bytes += [13, 10]
            case 10: if !isAfterReturn { bytes += [13, 10] }
            default: bytes.append(byte)
            }
            isAfterReturn = byte == 13
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func stored(_ store: NotesStore) throws -> String? {
        try DatabaseQueue(path: store.path).read { try String.fetchOne($0, sql: "SELECT ZTITLE FROM ZNOTE") }
    }

    @Test(arguments: [
        "plain", "one\ntwo", "one\rtwo\rthree", "one\r\ntwo", "\u{1}a\u{B}b\u{C}c\u{1F}d\u{7F}", "<a \"b\" & c>", "\ta",
        "\r\n", "\u{85}\u{2028}", "\u{301}a", "one\n\u{301}two", "one\r\u{301}two", "one\r\n\u{301}two\r\n",
        "\"\u{301}\"",
    ])
    func `an edit changes what was entered, and no other character`(_ title: String) throws {
        let store = try NotesStore(titles: [title])
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        var fields = try #require(try form(in: try server.get("object?id=Note/p1").body))
        // The form as it is changes nothing.
        #expect(try server.post("set", fields).status == 303)
        #expect(try stored(store).map { Array($0.utf8) } == Array(title.utf8))
        fields["value.title", default: ""] += "!"
        #expect(try server.post("set", fields).status == 303)
        #expect(try server.end().status == 0)
        #expect(try stored(store).map { Array($0.utf8) } == Array((title + "!").utf8))
    }

    @Test(arguments: ["one\r\ntwo\nthree", "one\rtwo\nthree"])
    func `a text that a browser cannot send back is shown, and not edited`(_ title: String) throws {
        let store = try NotesStore(titles: [title])
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        let page = try server.get("object?id=Note/p1").body
        #expect(try form(in: page) == nil)
        #expect(page.contains("This text is changed by coral set") && page.contains("three"))
    }

    @Test func `the line breaks of a text are one form or several`() {
        #expect(LineBreaks(of: "a") == .lineFeed && LineBreaks(of: "a\nb\n") == .lineFeed)
        #expect(LineBreaks(of: "a\rb") == .carriageReturn && LineBreaks(of: "a\r\nb\r\n") == .both)
        for text in ["a\r\nb\r", "a\n\rb", "a\nb\r\nc"] { #expect(LineBreaks(of: text) == nil, "\(text)") }
        #expect(LineBreaks.both.text("a\nb\n") == "a\r\nb\r\n" && LineBreaks.carriageReturn.text("a\nb") == "a\rb")
    }

    /// Bytes, because texts that differ in their line breaks or in their normalization may be equal as texts.
    private func isEqual(_ text: String?, _ expected: String) -> Bool {
        text.map { Array($0.utf8) == Array(expected.utf8) } == true
    }

    @Test func `a line break before a combining mark is one`() {
        #expect(LineBreaks(of: "a\n\u{301}b") == .lineFeed && LineBreaks(of: "a\r\n\u{301}b") == .both)
        #expect(LineBreaks(of: "a\r\n\u{301}b\n") == nil)
        #expect(isEqual(LineBreaks.both.text("a\n\u{301}b"), "a\r\n\u{301}b"))
        #expect(isEqual(LineBreaks.carriageReturn.text("a\n\u{301}b"), "a\r\u{301}b"))
        #expect(isEqual(LineBreaks.lineFeed.text("a\n\u{301}b"), "a\n\u{301}b"))
    }

    @Test func `an assignment is divided before a combining mark`() {
        for (argument, operation) in [("title=\u{301}a", "="), ("title+=\u{301}a", "+="), ("title-=\u{301}=", "-=")] {
            let assignment = Assignment(argument: argument)
            #expect(assignment?.key == "title" && assignment?.operation.rawValue == operation)
            #expect(isEqual(assignment?.value, argument.hasSuffix("a") ? "\u{301}a" : "\u{301}="))
        }
        #expect(Assignment(argument: "=a") == nil && Assignment(argument: "title") == nil)
        #expect(isEqual("text:\u{301}a".text(after: "text:"), "\u{301}a") && "tex".text(after: "text:") == nil)
    }

    @Test func `the fields of a form are divided before a combining mark`() {
        let fields = FormFields.fields(of: Data("a=\u{301}+b&\u{301}c=1&d=%0D%0A%CC%81&e==&f".utf8))
        #expect(fields.count == 5 && isEqual(fields["a"], "\u{301} b") && isEqual(fields["\u{301}c"], "1"))
        #expect(isEqual(fields["d"], "\r\n\u{301}") && fields["e"] == "=" && fields["f"] == "")
    }
}
