/// One step of a document that is read in order.
package enum DocumentToken: Sendable, Hashable {
    /// The beginning of an object.
    case beginObject
    /// The end of an object.
    case endObject
    /// The beginning of an array.
    case beginArray
    /// The end of an array.
    case endArray
    /// A member's name; its value comes next.
    case key
    /// Text.
    case string
    /// A number.
    case number
    /// True.
    case `true`
    /// False.
    case `false`
    /// Null.
    case null
    /// A value of a type that the format has (a date, bytes), or tagged with its type.
    case native
    /// The end of the document.
    case end
}

/// A document of any format as a sequence of tokens, on which the readers of layouts are based.
///
/// Methods that only examine a token are `mutating` too, because a large value is copied for every call that is not.
protocol TokenSource {
    mutating func next() throws -> DocumentToken
    /// Skips the rest of the value whose first token was read last.
    mutating func skipValue(after token: DocumentToken) throws
    /// The text of the key, string or number that was read last.
    mutating func tokenText() -> String
    /// Whether the text of the token that was read last equals the given one.
    mutating func textIs(_ text: [UInt8]) -> Bool
    /// The value under a name in the innermost open object, found before the members in front are read: a string, an
    /// array or an object. Nil if the object has no such member; in JSON, even if it has one, when the value is further than 16 MB ahead.
    mutating func treeAhead(under name: [UInt8]) throws -> ReadableValue?
    /// The scalar that was read last, converted to the declared type if that is exact; otherwise with the type of
    /// the format.
    mutating func value(_ token: DocumentToken, as type: GraphValueType) throws -> GraphValue
    var place: DocumentPlace { get }
    var mark: PlaceMark { mutating get }
    var depth: Int { get }
    var bytesRead: Int { get }
    var byteCount: Int? { get }
}

extension TokenSource {
    /// The string under a name in the innermost open object, found before it is read.
    mutating func stringAhead(under name: String) throws -> String? {
        if case .value(.string(let text))? = try treeAhead(under: Array(name.utf8)) { text } else { nil }
    }
}
