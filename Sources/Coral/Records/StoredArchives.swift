import CoreData

extension NSManagedObjectModel {
    /// A copy of the model whose transformable attributes have the stored bytes as their values, as `Data`, instead of
    /// the values that an app's transformers would create.
    ///
    /// Such a store can be read without the app's transformers, no class is instantiated, and bytes that cannot be
    /// decoded are preserved. Version hashes do not include transformers, so the store opens with the copy as well.
    public func keepingStoredArchives() -> NSManagedObjectModel {
        StoredBytesTransformer.register()
        guard let copy = copy(with: nil) as? NSManagedObjectModel else { return self }
        for entity in copy.entities {
            for attribute in entity.attributesByName.values {
                var pending = [attribute]
                while let attribute = pending.popLast() {
                    pending += attribute.compositeElements
                    guard attribute.attributeType == .transformableAttributeType else { continue }
                    attribute.valueTransformerName = StoredBytesTransformer.name.rawValue
                    attribute.attributeValueClassName = nil
                }
            }
        }
        return copy
    }
}

/// A transformer that returns its input in both directions.
final class StoredBytesTransformer: ValueTransformer, @unchecked Sendable {  // because it has no state
    static let name = NSValueTransformerName("CoralStoredBytes")

    private static let registration: Void = ValueTransformer.setValueTransformer(
        StoredBytesTransformer(), forName: name)

    static func register() { registration }

    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { value as? Data }
    override func reverseTransformedValue(_ value: Any?) -> Any? { value as? Data }
}
