// `primitiveTitle` is a key of the primitive value of `title`: Apple's Core Data generates a method of that name for each property,
// which key-value coding, properties with @NSManaged and predicates use.

extension NSManagedObject {
    /// The property whose primitive value a key means; nil if the key does not have this form, or the entity no such property.
    final func property(ofPrimitiveKey key: String) -> String? {
        let prefix = "primitive"
        guard key.hasPrefix(prefix) else { return nil }
        let name = key.dropFirst(prefix.count)
        guard let first = name.first, !first.isLowercase else { return nil }
        return [first.lowercased() + name.dropFirst(), String(name)].first { field(of: $0) != nil }
    }

    /// The property whose setter a key with an uppercase letter has too, as `Date` has that of `date`; nil if there is none.
    final func property(withSetterOf key: String) -> String? {
        guard let first = key.first, first.isUppercase else { return nil }
        let name = first.lowercased() + key.dropFirst()
        return field(of: name) == nil ? nil : name
    }
}
