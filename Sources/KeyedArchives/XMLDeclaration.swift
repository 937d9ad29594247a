/// The XML declaration at the beginning of a document.
package enum XMLDeclaration {
    /// Replaces the declaration, and a byte order mark before it, by blanks, which keep lines and columns.
    ///
    /// Foundation's parser uses the encoding that the declaration names, although the bytes have been checked to be
    /// UTF-8, and crashes on some.
    package static func blank(_ utf8: inout [UInt8]) {
        if utf8.starts(with: [0xEF, 0xBB, 0xBF]) { utf8.replaceSubrange(..<3, with: repeatElement(0x20, count: 3)) }
        guard let start = utf8.firstIndex(where: { $0 > 0x20 }), utf8[start...].starts(with: Array("<?xml".utf8)),
            let end = utf8[start...].firstIndex(of: UInt8(ascii: ">"))
        else { return }
        for index in utf8.indices[start...end] where utf8[index] != UInt8(ascii: "\n") { utf8[index] = 0x20 }
    }
}
