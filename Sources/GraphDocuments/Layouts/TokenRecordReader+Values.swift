extension TokenRecordReader {
    /// Reads an attribute's value whose first token is given.
    mutating func readValue(_ token: DocumentToken, _ attribute: GraphSchema.Attribute) throws -> GraphValue {
        try source.readValue(token, attribute, keepsMismatchedValues: options.keepsMismatchedValues)
    }

    /// Reads a tree of plain values whose first token is given. 64 levels at most, whatever the limits are:
    /// deallocating a tree is recursive.
    mutating func readTree(_ token: DocumentToken) throws -> ReadableValue {
        try source.readTree(token)
    }
}
