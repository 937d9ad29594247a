extension NSManagedObjectID {
    /// The primary key in the store; nil while the ID is temporary. The same as in `uriRepresentation()`, without
    /// creating a URI.
    package var primaryKey: Int64? { key.isTemporary ? nil : key.number }

    /// The UUID of the store; nil while the ID is temporary.
    package var storeUUID: String? { storeIdentifier }
}
