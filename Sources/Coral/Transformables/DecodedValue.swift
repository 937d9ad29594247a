import CoreData

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects
#endif

extension NSManagedObject {
    /// The value of a transformable attribute as a type; nil where it has none.
    ///
    /// Throws `TransformableError`, which names entity and attribute: where there is no such attribute, the value is of
    /// another type, its transformer is not registered, or the stored bytes cannot be read. Apple's Core Data does not
    /// tell bytes that cannot be read from none, so that there they are nil.
    public func decodedValue<Value>(forKey key: String, as type: Value.Type = Value.self) throws -> Value? {
        let place = "\(entity.name ?? "").\(key)"
        guard let attribute = entity.attributesByName[key] else {
            throw TransformableError(
                .unknownAttribute,
                "\(entity.name ?? "") has no attribute \"\(key)\"."
                    + NameSuggestion.question(for: key, in: entity.attributesByName.keys))
        }
        guard let value = value(forKey: key) else {
            try requireReadable(attribute, at: place)
            return nil
        }
        guard let typed = value as? Value else {
            throw TransformableError(.wrongType, "\(place) holds a \(Swift.type(of: value)), not a \(Value.self).")
        }
        return typed
    }

    /// Throws where there are bytes, and no value of them.
    func requireReadable(_ attribute: NSAttributeDescription, at place: String) throws {
        guard attribute.attributeType == .transformableAttributeType else { return }
        let name = attribute.valueTransformerName ?? ""
        if !name.isEmpty, ValueTransformer(forName: NSValueTransformerName(name)) == nil {
            throw TransformableError(
                .missingTransformer, "No value transformer \"\(name)\" is registered for \(place).")
        }
        #if !canImport(Darwin) && !CORAL_PUBLIC_API
            if let bytes = unreadableBytes(forKey: attribute.name) {
                throw TransformableError(
                    .decoding, "The value transformer of \(place) cannot read the \(bytes.count) bytes that are stored."
                )
            }
        #endif
    }
}
