import Foundation
import KeyedArchives

/// Turns values into others, as a transformable attribute's into data. Foundation has none here.
open class ValueTransformer: NSObject, SelfReplacing {
    /// A transformer.
    public required override init() {}

    /// The transformer registered under a name; else a new one of the class of that name, which is then registered; else
    /// nil.
    public convenience init?(forName name: NSValueTransformerName) {
        self.init(replacedBy: { ValueTransformers.shared.transformer(named: name) as? Self })
    }

    /// Registers a transformer under a name; nil takes it away.
    open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        ValueTransformers.shared.set(transformer, named: name)
    }

    /// The names under which transformers are registered, sorted.
    open class func valueTransformerNames() -> [NSValueTransformerName] { ValueTransformers.shared.names }

    /// The class of the values that it makes.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether it can turn its results back.
    open class func allowsReverseTransformation() -> Bool { true }

    /// The value that it makes of a value; the value itself unless overridden.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The value that a result was made of. Unless overridden, what ``transformedValue(_:)`` gives, where the class allows
    /// it at all; else nil.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
        type(of: self).allowsReverseTransformation() ? transformedValue(value) : nil
    }
}

/// The name of a transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of a text.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Turns true into false and the other way round.
    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    /// Says whether a value is nil.
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    /// Says whether a value is not nil.
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
    /// Unarchives data. Here it is as careful as ``secureUnarchiveFromDataTransformerName``.
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    /// Unarchives data of a keyed archive. Here it is as careful as ``secureUnarchiveFromDataTransformerName``.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
    /// Unarchives data, and only objects of the allowed classes.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

/// Unarchives data in its forward direction and archives values in the reverse one; Core Data uses it reversed.
///
/// Only objects of ``allowedTopLevelClasses`` are instantiated.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that an archive may hold: plain values and collections of them. A subclass adds its own.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
            NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    /// The value of an archive; nil where it is none, or holds a class that is not allowed.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return try? KeyedArchive.unarchivedRoot(ofClasses: type(of: self).allowedTopLevelClasses, from: data)
    }

    /// The archive of a value; nil where the value cannot be archived securely.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    }
}
