/// The structure of documents in the plain layout, whatever their values come from: `PlainJSONWriter` writes those of
/// records, the toolkit also those of rows.
extension JSONWriter {
    /// Begins the document, an object of arrays.
    package mutating func beginPlainDocument() throws { try beginObject() }

    /// Ends the document and its output.
    package mutating func endPlainDocument() throws {
        try endObject()
        try endLine()
        try output.finish()
    }

    /// Begins the array of an entity's records, which is a member of the document.
    package mutating func beginPlainEntity(_ name: String) throws {
        try lineBreak()
        try key(name)
        try beginArray()
    }

    /// Begins a record, on a line of its own.
    package mutating func beginPlainRecord() throws {
        try lineBreak()
        try beginObject()
    }

    // Two methods, because a generic one with a closure, called from another module, looks up the types of its sequence
    // at run time for each reference, which took half of the time of an export.

    /// Begins a reference: the only value of a key, or the array of its values.
    package mutating func beginPlainReference(count: Int) throws {
        if count > 1 { try beginArray() }
    }

    /// Ends a reference of as many values.
    package mutating func endPlainReference(count: Int) throws {
        if count > 1 { try endArray() }
    }
}
