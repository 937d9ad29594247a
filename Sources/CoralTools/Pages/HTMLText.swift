import Foundation

/// Text in HTML and SVG.
package enum HTMLText {
    /// Escapes the characters that have a meaning in HTML. Control characters, which are invalid in HTML, are shown as U+FFFD.
    package static func escaped(_ text: String) -> String { escaped(text) { _ in "\u{FFFD}" } }

    /// Escapes the value of a field, which a browser sends back: it keeps control characters, except NUL.
    package static func escaped(fieldValue text: String) -> String { escaped(text) { "&#\($0.value);" } }

    private static func escaped(_ text: String, control: (Unicode.Scalar) -> String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\u{0}"..."\u{8}", "\u{B}"..."\u{1F}", "\u{7F}": result += control(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A name with optional line breaks before its capital letters.
    package static func breakable(_ name: String) -> String {
        var result = ""
        var before: Character?
        for character in name {
            if character.isUppercase, before?.isLowercase == true { result += "<wbr>" }
            result += escaped(String(character))
            before = character
        }
        return result
    }

    /// A name as an anchor of the page: characters that are not allowed there are replaced by `_`.
    static func address(_ name: String) -> String {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "/_.-:="))
        return String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { allowed.contains($0) && $0.isASCII ? $0 : "_" }))
    }
}
