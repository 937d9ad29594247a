import CoreData

/// A value transformer for transformable attributes whose values support secure coding: keyed archives that hold the
/// allowed classes and no others.
///
///     ArchiveTransformer.register(as: "PaletteTransformer", classes: [Palette.self, NSArray.self])
///
/// Unchecked because it does not change once it is registered.
public final class ArchiveTransformer: ValueTransformer, @unchecked Sendable {
    private var classes: [AnyClass] = []

    /// Registers a transformer under the name that the model says. Once for the process, before a store is opened.
    @discardableResult
    public static func register(as name: String, classes: [AnyClass]) -> ArchiveTransformer {
        let transformer = ArchiveTransformer()
        transformer.classes = classes
        ValueTransformer.setValueTransformer(transformer, forName: NSValueTransformerName(name))
        return transformer
    }

    public override class func transformedValueClass() -> AnyClass { NSData.self }
    public override class func allowsReverseTransformation() -> Bool { true }

    /// The archive of a value; nil where it cannot be archived securely.
    public override func transformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        return try? ObjectArchiver.archivedData(value)
    }

    /// The value of an archive; nil where it is none, or holds a class that is not allowed.
    public override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
    }
}
