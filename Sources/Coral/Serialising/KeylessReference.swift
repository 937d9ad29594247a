import GraphDocuments

/// A reference to an object that is not in the document and has no natural key: its entity has neither a uniqueness
/// constraint nor a declared key (`ObjectIdentity`), or the values of the key are missing. An import finds the object by
/// its URI, in the store it was exported from; in other stores it does not exist. An object that was not saved is never
/// found.
public struct KeylessReference: Sendable, Hashable, CustomStringConvertible {
    /// The object that has the relationship.
    public var id: RecordID
    /// The relationship's name.
    public var relationship: String
    /// The object outside the document.
    public var target: RecordID

    public var description: String {
        "\(id).\(relationship) refers to \(target), which is not in the document and has no natural key: "
            + "it cannot be found in other stores."
    }
}
