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
        let isQuoted = typed.hasPrefix("'") || typed.hasPrefix("\"")
        let name = String(decoding: word.utf8.dropFirst(typed.utf8.count - (isQuoted ? 1 : 0)), as: UTF8.self)
        precondition(!name.unicodeScalars.contains { "$`\"'\\;&|<>(){}[]*?!#~ \t\r\n".unicodeScalars.contains($0) })
        let quoted = CompletionWord.quoted(word, for: .bash)
        let parts = quoted.dropFirst().dropLast().components(separatedBy: "'\\''")
        precondition(quoted.hasPrefix("'") && quoted.hasSuffix("'") && !parts.contains { $0.contains("'") })
    }
    return 0
}
