/// What a named transformer does, looked up once.
public struct MappedFunctions {
    /// From the document's value to the attribute's; nil is null.
    public var read: ((ReadableValue) throws -> ReadableValue?)?
    /// From the attribute's value to the document's; nil is null.
    public var write: ((ReadableValue) throws -> ReadableValue?)?

    /// Functions for both ways; a missing one leaves values as they are.
    public init(
        read: ((ReadableValue) throws -> ReadableValue?)?, write: ((ReadableValue) throws -> ReadableValue?)?
    ) {
        self.read = read
        self.write = write
    }
}

/// Finds the functions of a transformer by its name; nil where there is none of that name.
public typealias MappedFunctionLookup = (String) -> MappedFunctions?
