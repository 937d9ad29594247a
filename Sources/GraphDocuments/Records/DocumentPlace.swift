/// A place in a document, for messages and for editors to jump to.
public struct DocumentPlace: Sendable, Hashable {
    /// The number of bytes before it.
    public var offset: Int
    /// The line, from 1; 0 where the document has no lines (a binary property list, a dictionary).
    public var line: Int
    /// The column in bytes, from 1; 0 where the document has no lines.
    public var column: Int
    /// The pointer of the array or object around it.
    var container: String
    /// Which element of the container it is in, or -1.
    var index: Int
    /// The member of that element, or of the container where there is no index.
    var member: String?

    /// A place; without line and column where there are none.
    public init(offset: Int, line: Int = 0, column: Int = 0, pointer: String = "") {
        self.init(offset: offset, line: line, column: column, container: pointer, index: -1, member: nil)
    }

    init(offset: Int, line: Int, column: Int, container: String, index: Int, member: String?) {
        self.offset = offset
        self.line = line
        self.column = column
        self.container = container
        self.index = index
        self.member = member
    }

    /// The path to the place as a JSON pointer (RFC 6901) such as `/Note/3/title`; empty for the document as a whole.
    /// One longer than 512 bytes loses its first steps, for which `…` stands.
    public var pointer: String {
        var text = container
        if index >= 0 { text += "/\(index)" }
        if let member { text += "/" + DocumentPlace.escaped(member) }
        guard text.utf8.count > 512 else { return text }
        // Half is cut at once, so that a path that grows step by step is not cut at every step.
        let bytes = text.utf8
        let middle = bytes.index(bytes.startIndex, offsetBy: bytes.count / 2)
        guard let slash = bytes[middle...].firstIndex(of: UInt8(ascii: "/")) else { return text }
        return "…" + text[slash...]
    }

    /// The array or object that the place is an element of, as the pointer to it; nil where the place is no element of an array.
    package var array: String? { index >= 0 && member == nil ? container : nil }

    /// The same place one member further in.
    func member(_ name: String) -> DocumentPlace {
        DocumentPlace(offset: offset, line: line, column: column, container: pointer, index: -1, member: name)
    }

    /// The same place one element further in.
    func element(_ name: String) -> DocumentPlace { member(name) }

    /// A name as a step of a JSON pointer.
    static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        return name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}

extension DocumentPlace: CustomStringConvertible {
    public var description: String {
        let path = pointer
        let spot = line > 0 ? "line \(line), column \(column)" : "byte \(offset)"
        return path.isEmpty ? spot : "\(spot), \(path)"
    }
}
