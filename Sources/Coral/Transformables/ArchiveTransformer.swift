import CoreData
import KeyedArchives

/// A value transformer for transformable attributes whose values support secure coding: keyed archives that contain the
/// allowed classes and no others.
///
///     ArchiveTransformer.register(as: "PaletteTransformer", classes: [Palette.self, NSArray.self])
///
/// Values that cannot be archived, and data that cannot be read, give nil, which Core Data reports with the attribute.
public final class ArchiveTransformer: ValueTransformer, @unchecked Sendable {  // because it does not change
    private var classes: [AnyClass] = []

    /// The names of the classes in archives.
    private var names: Set<String> { ArchivedTree.names(of: classes) }

    /// Registers a transformer under the name in the model. Call it once in a process, before a store is opened.
    @discardableResult
    public static func register(as name: String, classes: [AnyClass]) -> ArchiveTransformer {
        let transformer = ArchiveTransformer()
        transformer.classes = classes
        ValueTransformer.setValueTransformer(transformer, forName: NSValueTransformerName(name))
        return transformer
    }

    public override class func transformedValueClass() -> AnyClass { NSData.self }
    public override class func allowsReverseTransformation() -> Bool { true }

    /// The archive of a value; nil if it cannot be archived securely.
    public override func transformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        return try? ObjectArchiver.archivedData(value)
    }

    /// The value of an archive; nil if the data is not an archive, or contains a class that is not allowed.
    public override func reverseTransformedValue(_ value: Any?) -> Any? {
        // The bytes are checked before anything is instantiated: an unarchiver must not be given arbitrary bytes.
        guard let data = value as? Data, let tree = try? KeyedArchives.ReadableValue(archive: data),
            ArchivedTree.otherClasses(in: tree).isSubset(of: names)
        else { return nil }
        return try? KeyedArchive.unarchivedRoot(ofClasses: classes, from: data)
    }
}
