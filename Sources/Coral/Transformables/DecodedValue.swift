import CoreData

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects
#endif

extension NSManagedObject {
    /// The value of a transformable attribute, cast to a type; nil if it has none.
    ///
    /// Throws `TransformableError` with entity and attribute if the attribute does not exist, the value has another
    /// type, its transformer is not registered, or the stored bytes cannot be read. Apple's Core Data does not
    /// distinguish unreadable bytes from missing ones, so that there they give nil.
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
            throw TransformableError(.wrongType, "\(place) is a \(Swift.type(of: value)), not a \(Value.self).")
        }
        return typed
    }

    /// Throws if there are bytes that cannot be decoded.
    func requireReadable(_ attribute: NSAttributeDescription, at place: String) throws {
        guard attribute.attributeType == .transformableAttributeType else { return }
        let name = attribute.valueTransformerName ?? ""
        if !name.isEmpty, ValueTransformer(forName: NSValueTransformerName(name)) == nil {
            throw TransformableError(
                .missingTransformer, "No value transformer \"\(name)\" is registered for \(place).")
        }
        #if !canImport(Darwin) && !CORAL_PUBLIC_API
            if let bytes = unreadableBytes(forKey: attribute.name) {
                // Bytes that the transformer decodes have a value of another class.
                let transformer = AttributeTransformer(attribute)
                if let value = try? transformer.value(of: bytes) { _ = try transformer.value(from: value) }
                throw TransformableError(
                    .decoding, "The value transformer of \(place) cannot read the \(bytes.count) stored bytes."
                )
            }
        #endif
    }
}
