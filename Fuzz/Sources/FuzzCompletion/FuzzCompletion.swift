import ArgumentParser
import CompletionWords
import Foundation
import FuzzSupport

/// Called by libFuzzer with each input: the typed word on one line, names of a model on the others. No completion may
/// contain a name with a character that is special in a shell, and a completion quoted for bash must be one quoted
/// word.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let lines = String(decoding: input(bytes, count), as: UTF8.self).components(separatedBy: "\n")
    let typed = lines.first ?? ""
    for word in CompletionWord.words(Array(lines.dropFirst()), after: typed) {
        // Bytes, as a shell reads them: a quote and a combining mark are one `Character`.
        let isQuoted = typed.utf8.first == UInt8(ascii: "'") || typed.utf8.first == UInt8(ascii: "\"")
        let name = word.utf8.dropFirst(typed.utf8.count - (isQuoted ? 1 : 0))
        precondition(!name.contains { "$`\"'\\;&|<>(){}[]*?!#~ \t\r\n".utf8.contains($0) })
        let quoted = Array(CompletionWord.quoted(word, for: .bash).utf8)
        let quote = UInt8(ascii: "'")
        precondition(quoted.count >= 2 && quoted.first == quote && quoted.last == quote)
        var rest = quoted.dropFirst().dropLast()
        while let position = rest.firstIndex(of: quote) {
            precondition(rest[position...].starts(with: "'\\''".utf8))
            rest = rest[position...].dropFirst(4)
        }
    }
    return 0
}
