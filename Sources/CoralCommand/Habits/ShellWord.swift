/// Words of command lines in messages.
enum ShellWord {
    /// A word as a shell takes it: in quotation marks if it has characters that plain paths do not have.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.isASCII && ($0.value >= 48 && $0.value <= 57)
                    || "/._-+,:=@%".unicodeScalars.contains($0)
            }
        return isPlain ? word : "'\(word.replacingOccurrences(of: "'", with: "'\\''"))'"
    }
}
