/// A position in a document, for messages and for editors.
public struct DocumentPlace: Sendable, Hashable {
    /// The byte offset.
    public var offset: Int
    /// The line, starting at 1; 0 if the document has no lines (a binary property list, a dictionary).
    public var line: Int
    /// The column in bytes, starting at 1; 0 if the document has no lines.
    public var column: Int
    /// The JSON pointer of the enclosing array or object.
    var container: String
    /// The index of the element in the container, or -1.
    var index: Int
    /// The member of that element, or of the container without an index.
    var member: String?

    /// Creates a position; without line and column if there are none.
    package init(offset: Int, line: Int = 0, column: Int = 0, pointer: String = "") {
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

    /// The path of the position as a JSON pointer (RFC 6901) such as `/Note/3/title`; empty for the whole document. In
    /// a path longer than 512 bytes, `…` replaces the first steps.
    public var pointer: String {
        var text = container
        if index >= 0 { text += "/\(index)" }
        if let member { text += "/" + DocumentPlace.escaped(member) }
        guard text.utf8.count > 512 else { return text }
        // Half of the path is cut at once, so that a growing path is not cut at every step.
        let bytes = text.utf8
        let middle = bytes.index(bytes.startIndex, offsetBy: bytes.count / 2)
        guard let slash = bytes[middle...].firstIndex(of: UInt8(ascii: "/")) else { return text }
        return "…" + text[slash...]
    }

    /// The pointer of the array whose element is at the position; nil if it is not an element of an array.
    package var array: String? { index >= 0 && member == nil ? container : nil }

    /// The position of a member of the value here.
    func member(_ name: String) -> DocumentPlace {
        DocumentPlace(offset: offset, line: line, column: column, container: pointer, index: -1, member: name)
    }

    /// The position of an element of the value here.
    func element(_ name: String) -> DocumentPlace { member(name) }

    /// A name escaped as a step of a JSON pointer.
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
        // The members of a dictionary have no bytes.
        if line == 0, offset == 0 { return path.isEmpty ? "the top" : path }
        return path.isEmpty ? spot : "\(spot), \(path)"
    }
}
