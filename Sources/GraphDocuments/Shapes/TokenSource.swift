/// One step of a document that is read in order.
public enum DocumentToken: Sendable, Hashable {
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
    /// No value.
    case null
    /// A value that the format has a type of its own for (a date, bytes) or says the type of.
    case native
    /// The document's end.
    case end
}

/// A document of any format as a sequence of tokens, which is what the readers of shapes are written against.
///
/// What only looks at a token is `mutating` too, because a large value that is not is copied for every call.
protocol TokenSource {
    mutating func next() throws -> DocumentToken
    /// Passes over the rest of the value whose first token was read last.
    mutating func skipValue(after token: DocumentToken) throws
    /// The text of the key, string or number that was read last.
    mutating func tokenText() -> String
    /// Whether the text of the token that was read last is this.
    mutating func textIs(_ text: [UInt8]) -> Bool
    /// The scalar that was read last, as a value of the declared type where it can be one exactly; otherwise as the value
    /// that the format alone sees in it.
    mutating func value(_ token: DocumentToken, as type: GraphValueType) throws -> GraphValue
    var place: DocumentPlace { get }
    var mark: PlaceMark { mutating get }
    var depth: Int { get }
    var bytesRead: Int { get }
    var byteCount: Int? { get }
}
