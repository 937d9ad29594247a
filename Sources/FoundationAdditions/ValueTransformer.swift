import Foundation
import KeyedArchives

/// Converts values, such as a transformable attribute's to data. Foundation has no such class here.
open class ValueTransformer: NSObject, SelfReplacing {
    /// Creates a transformer.
    public required override init() {}

    /// The transformer registered under a name; else a new one of the class with that name, which is then registered;
    /// else nil. The class is found by its own name, and by that with its module: `ColorTransformer`,
    /// `Shop.ColorTransformer`. Where several modules have a class of that name, the module is required.
    public convenience init?(forName name: NSValueTransformerName) {
        self.init(replacedBy: { ValueTransformers.shared.transformer(named: name) as? Self })
    }

    /// Registers a transformer under a name; nil removes it.
    open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        ValueTransformers.shared.set(transformer, named: name)
    }

    /// The names under which transformers are registered, sorted.
    open class func valueTransformerNames() -> [NSValueTransformerName] { ValueTransformers.shared.names }

    /// The class of the transformed values.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether the reverse transformation is supported.
    open class func allowsReverseTransformation() -> Bool { true }

    /// The transformed value; by default the value itself.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The reverse of a transformation. By default the result of ``transformedValue(_:)``, if the class supports
    /// reverse transformation; else nil.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
        type(of: self).allowsReverseTransformation() ? transformedValue(value) : nil
    }
}

/// The name of a transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates the name with a text.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Negates a boolean.
    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    /// Whether a value is nil.
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    /// Whether a value is not nil.
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
    /// Unarchives data. Here it has the same restrictions as ``secureUnarchiveFromDataTransformerName``.
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    /// Unarchives data of a keyed archive. Here it has the same restrictions as
    /// ``secureUnarchiveFromDataTransformerName``.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
    /// Unarchives data, and only objects of the allowed classes.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

/// Unarchives data in its forward direction and archives values in the reverse direction; Core Data uses it reversed.
///
/// Only objects of ``allowedTopLevelClasses`` are instantiated.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that an archive may contain: plain values and collections of them. A subclass adds its own.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
            NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    /// The value of an archive; nil if the data is not an archive, or contains a class that is not allowed.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return try? KeyedArchive.unarchivedRoot(ofClasses: type(of: self).allowedTopLevelClasses, from: data)
    }

    /// The archive of a value; nil if the value cannot be archived securely.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    }
}

/// The registered transformers.
private final class ValueTransformers: @unchecked Sendable {  // because every access holds the lock
    static let shared = ValueTransformers()

    private let lock = NSLock()
    private var transformers: [NSValueTransformerName: ValueTransformer] = [
        .negateBooleanTransformerName: NegateBooleanTransformer(),
        .isNilTransformerName: IsNilTransformer(isNil: true),
        .isNotNilTransformerName: IsNilTransformer(isNil: false),
        .unarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
        .keyedUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
        .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
    ]

    var names: [NSValueTransformerName] {
        lock.withLock { transformers.keys.sorted { $0.rawValue < $1.rawValue } }
    }

    func set(_ transformer: ValueTransformer?, named name: NSValueTransformerName) {
        lock.withLock { transformers[name] = transformer }
    }

    func transformer(named name: NSValueTransformerName) -> ValueTransformer? {
        if let transformer = lock.withLock({ transformers[name] }) { return transformer }
        let classes = ProgramClasses.named(name.rawValue).compactMap { $0 as? ValueTransformer.Type }
        let own = classes.first { $0 == NSSecureUnarchiveFromDataTransformer.self }
        // If several classes have the name, none of them is used.
        guard let found = own ?? (classes.count == 1 ? classes[0] : nil) else { return nil }
        // Created without the lock, because its initialiser may register transformers.
        let transformer = found.init()
        return lock.withLock {
            if let transformer = transformers[name] { return transformer }
            transformers[name] = transformer
            return transformer
        }
    }
}

private final class NegateBooleanTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { ((value as? NSNumber)?.boolValue ?? false) == false }
}

private final class IsNilTransformer: ValueTransformer {
    private let isNil: Bool

    init(isNil: Bool) { self.isNil = isNil }

    required init() { isNil = true }

    override class func allowsReverseTransformation() -> Bool { false }

    override func transformedValue(_ value: Any?) -> Any? { (value == nil || value is NSNull) == isNil }
}
