import CoreData
import KeyedArchives
import ModelFiles

/// Converts between a transformable attribute's value and its archive in a store, with public API only.
package struct AttributeTransformer {
    private let name: NSValueTransformerName
    /// The attribute, for messages.
    package let place: String
    private let className: String
    private let valueClass: ValueClass

    package init(_ attribute: NSAttributeDescription) {
        let name = attribute.valueTransformerName.flatMap { $0.isEmpty ? nil : $0 }
        // The default transformer of Core Data.
        self.name = name.map { NSValueTransformerName($0) } ?? .secureUnarchiveFromDataTransformerName
        place = "\(attribute.entity.name ?? "").\(attribute.name)"
        className = attribute.attributeValueClassName ?? ""
        valueClass = className.isEmpty ? .any : ValueClass(className, lookUp: NSClassFromString)
    }

    /// Whether the transformer would instantiate any class that an archive contains.
    package var isInsecure: Bool { ["NSUnarchiveFromData", "NSKeyedUnarchiveFromData"].contains(name.rawValue) }

    /// The archive of a value. Core Data's own transformers give the same bytes each time, unless the value itself is
    /// unordered.
    ///
    /// Throws `TransformableError` if the transformer is not registered or returns no data.
    package func archive(of value: Any) throws -> Data {
        let transformer = try registered()
        let made =
            isUnarchiving(transformer)
            ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
        guard let archive = made as? Data else {
            throw TransformableError(
                .encoding, "The value transformer \"\(name.rawValue)\" of \(place) returned no data for a value.")
        }
        return isUnarchiving(transformer) ? (try? KeyedArchive(data: archive).sortedData()) ?? archive : archive
    }

    /// The value of an archive.
    ///
    /// Throws `TransformableError` if the transformer is not registered or returns nil.
    package func value(of archive: Data) throws -> Any {
        let transformer = try registered()
        let made =
            isUnarchiving(transformer)
            ? transformer.transformedValue(archive) : transformer.reverseTransformedValue(archive)
        guard let made else {
            throw TransformableError(
                .decoding, "The value transformer \"\(name.rawValue)\" of \(place) returned nil for the archive.")
        }
        return made
    }

    /// A value of the class that the model declares: the value itself, or its mutable copy.
    ///
    /// Throws `TransformableError` if neither is of the class, which a property of the declared type could not return.
    package func value(from value: Any) throws -> Any {
        guard let value = valueClass.value(from: value) else {
            throw TransformableError(
                .wrongType, "\(place) has values of the class \(className), not \(type(of: value)).")
        }
        return value
    }

    private func registered() throws -> ValueTransformer {
        guard let transformer = ValueTransformer(forName: name) else {
            throw TransformableError(
                .missingTransformer, "No value transformer \"\(name.rawValue)\" is registered for \(place).")
        }
        return transformer
    }

    /// The unarchiving transformers are used in reverse: their forward direction decodes an archive.
    private func isUnarchiving(_ transformer: ValueTransformer) -> Bool {
        transformer is NSSecureUnarchiveFromDataTransformer || isInsecure
    }

    /// Whether two archives represent the same value: Foundation's archives of one value may differ in the order of
    /// their keys, which is ignored.
    package static func areSame(_ one: Data, _ two: Data) -> Bool {
        if one == two { return true }
        guard let one = try? KeyedArchives.ReadableValue(archive: one),
            let two = try? KeyedArchives.ReadableValue(archive: two)
        else { return false }
        return one.isSame(as: two)
    }
}

extension ValueTransformer {
    /// Registers a transformer for transformable attributes whose values are Codable, under its name in the model. Call it once in a
    /// process, before a store is opened.
    ///
    ///     ValueTransformer.register(Settings.self, as: "SettingsTransformer")
    ///
    /// Creates only instances that the type's own decoding creates. A value of another type, and bytes that cannot be
    /// decoded, give nil, which Core Data reports with the attribute.
    @discardableResult
    public static func register<Value: Codable>(
        _ type: Value.Type, as name: String, coder: ValueCoder = .json
    ) -> ValueTransformer {
        let transformer = CodableTransformer<Value>()
        transformer.coder = coder
        setValueTransformer(transformer, forName: NSValueTransformerName(name))
        return transformer
    }

    /// Registers a transformer for transformable attributes whose values support secure coding, under its name in the model: keyed
    /// archives that contain the listed classes and no others. Call it once in a process, before a store is opened.
    ///
    ///     ValueTransformer.register(archivesOf: [Palette.self, NSArray.self], as: "PaletteTransformer")
    ///
    /// Values that cannot be archived, and data that cannot be read, give nil, which Core Data reports with the attribute.
    @discardableResult
    public static func register(archivesOf classes: [AnyClass], as name: String) -> ValueTransformer {
        let transformer = ArchiveTransformer()
        transformer.classes = classes
        setValueTransformer(transformer, forName: NSValueTransformerName(name))
        return transformer
    }
}

/// A value transformer for values that support secure coding.
final class ArchiveTransformer: ValueTransformer, @unchecked Sendable {  // because it does not change
    fileprivate var classes: [AnyClass] = []

    /// The names of the classes in archives.
    private var names: Set<String> { ArchivedTree.names(of: classes) }

    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }

    /// The archive of a value; nil if it cannot be archived securely.
    override func transformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        return try? ObjectArchiver.archivedData(value)
    }

    /// The value of an archive; nil if the data is not an archive, or contains a class that is not allowed.
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        // The bytes are checked before anything is instantiated: an unarchiver must not be given arbitrary bytes.
        guard let data = value as? Data, let tree = try? KeyedArchives.ReadableValue(archive: data),
            ArchivedTree.otherClasses(in: tree).isSubset(of: names)
        else { return nil }
        return try? KeyedArchive.unarchivedRoot(ofClasses: classes, from: data)
    }
}

/// A value transformer for values that are Codable.
package final class CodableTransformer<Value: Codable>: ValueTransformer, @unchecked Sendable {  // because of its lock
    private let lock = NSLock()
    fileprivate var coder = ValueCoder.json
    private var error: TransformableError?

    /// The error of the last failed transformation.
    package var lastError: TransformableError? { lock.withLock { error } }

    package override class func transformedValueClass() -> AnyClass { NSData.self }
    package override class func allowsReverseTransformation() -> Bool { true }

    /// Encodes a value.
    package override func transformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        guard let typed = value as? Value else {
            return note(.wrongType, "A value of type \(type(of: value)) is not a \(Value.self).")
        }
        do {
            return try coder.encode(typed)
        } catch {
            return note(.encoding, "A value of type \(Value.self) cannot be encoded: \(error)")
        }
    }

    /// Decodes a value.
    package override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        do {
            return try coder.decode(Value.self, from: data)
        } catch {
            return note(.decoding, "The stored bytes are not a valid \(Value.self): \(error)")
        }
    }

    private func note(_ code: TransformableError.Code, _ message: String) -> Any? {
        lock.withLock { error = TransformableError(code, message) }
        return nil
    }
}
