/// The functions of a named transformer.
package struct MappedFunctions {
    /// Converts the document's value to the attribute's; nil is null.
    package var read: ((ReadableValue) throws -> ReadableValue?)?
    /// Converts the attribute's value to the document's; nil is null.
    package var write: ((ReadableValue) throws -> ReadableValue?)?

    /// Creates functions for both directions; a missing one leaves values unchanged.
    package init(
        read: ((ReadableValue) throws -> ReadableValue?)?, write: ((ReadableValue) throws -> ReadableValue?)?
    ) {
        self.read = read
        self.write = write
    }
}

/// Finds the functions of a transformer by its name; nil if it is unknown.
package typealias MappedFunctionLookup = (String) -> MappedFunctions?
