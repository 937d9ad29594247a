import CoreData
import KeyedArchives

/// A property for a transformable or Codable-valued attribute that detects in-place changes.
///
///     final class Note: NSManagedObject {
///         @Tracked("tags") var tags: [String] = []
///         @Tracked("settings", coder: .json) var settings = Settings()
///     }
///     note.tags.append("new")                 // changedValues, save and undo include it
///
/// The property stores nothing itself: it reads the attribute each time, and assigns each change to it. So refreshing,
/// undo, rolling back and merging work as for any attribute. With a coder the attribute is binary data; without one it
/// is transformable and contains the value itself. An attribute without value gives the property's initial value. A
/// failed assignment does not throw: `$tags.error` contains the error, and `$tags.set(_:)` throws it. A stored value that
/// cannot be read is also the initial value; assigning the property does not replace it, but `$tags.set(_:)` does.
///
/// Cost: reading with a coder decodes each time; keep the value in a variable for repeated reads.
@propertyWrapper
public struct Tracked<Value> {
    fileprivate let key: String
    fileprivate let initialValue: Value
    fileprivate let encode: ((Value) throws -> Any?)?
    fileprivate let decode: ((Data) throws -> Value)?
    fileprivate var error: (any Error)?

    /// Creates a property for a transformable attribute with values of this type.
    public init(wrappedValue: Value, _ key: String) {
        self.key = key
        initialValue = wrappedValue
        encode = nil
        decode = nil
    }

    /// Creates a property for a binary attribute with the encoding of a Codable value.
    public init(wrappedValue: Value, _ key: String, coder: ValueCoder) where Value: Codable {
        self.key = key
        initialValue = wrappedValue
        encode = { try coder.encode($0) }
        decode = { try coder.decode(Value.self, from: $0) }
    }

    @available(*, unavailable, message: "Tracked properties belong to subclasses of NSManagedObject.")
    public var wrappedValue: Value {
        get { initialValue }
        set {}
    }

    @available(*, unavailable, message: "Tracked properties belong to subclasses of NSManagedObject.")
    public var projectedValue: TrackedAttribute<Value> {
        get { TrackedAttribute(object: nil, storage: self) }
        set {}
    }

    public static subscript<Object: NSManagedObject>(
        _enclosingInstance object: Object, wrapped wrapped: ReferenceWritableKeyPath<Object, Value>,
        storage storage: ReferenceWritableKeyPath<Object, Tracked<Value>>
    ) -> Value {
        get {
            let tracked = object[keyPath: storage]
            return (try? tracked.read(object)) ?? tracked.initialValue
        }
        set {
            do {
                // The value may have been changed in place, starting from the initial value, and would replace what cannot be read.
                _ = try object[keyPath: storage].read(object)
                try object[keyPath: storage].write(newValue, to: object)
                object[keyPath: storage].error = nil
            } catch {
                object[keyPath: storage].error = error
            }
        }
    }

    public static subscript<Object: NSManagedObject>(
        _enclosingInstance object: Object,
        projected projected: ReferenceWritableKeyPath<Object, TrackedAttribute<Value>>,
        storage storage: ReferenceWritableKeyPath<Object, Tracked<Value>>
    ) -> TrackedAttribute<Value> {
        get { TrackedAttribute(object: object, storage: object[keyPath: storage]) }
        set {}
    }

    // MARK: - The attribute

    fileprivate func read(_ object: NSManagedObject) throws -> Value {
        let place = try attribute(of: object)
        guard let raw = object.value(forKey: key) else {
            if let attribute = object.entity.attributesByName[key] {
                try object.requireReadable(attribute, at: place)
            }
            return initialValue
        }
        guard let decode else {
            guard let value = raw as? Value else {
                throw TransformableError(.wrongType, "\(place) is a \(type(of: raw)), not a \(Value.self).")
            }
            return value
        }
        guard let data = raw as? Data else {
            throw TransformableError(.wrongType, "\(place) is a \(type(of: raw)), not bytes.")
        }
        do {
            return try decode(data)
        } catch {
            throw TransformableError(.decoding, "The bytes of \(place) are not a valid \(Value.self): \(error)")
        }
    }

    fileprivate func write(_ value: Value, to object: NSManagedObject) throws {
        let place = try attribute(of: object)
        var raw: Any? = value
        if let encode {
            do {
                raw = try encode(value)
            } catch {
                throw TransformableError(.encoding, "The value of \(place) cannot be encoded: \(error)")
            }
        }
        // Assigning an equal value is not a change.
        if TransformableEquality.areSame(raw, object.value(forKey: key)) { return }
        object.setValue(raw, forKey: key)
    }

    /// The attribute's name for messages. Throws if it does not exist, or is of another kind.
    private func attribute(of object: NSManagedObject) throws -> String {
        let place = "\(object.entity.name ?? "").\(key)"
        guard let attribute = object.entity.attributesByName[key] else {
            throw TransformableError(
                .unknownAttribute,
                "\(object.entity.name ?? "") has no attribute \"\(key)\"."
                    + NameSuggestion.question(for: key, in: object.entity.attributesByName.keys))
        }
        let wanted: NSAttributeType = decode == nil ? .transformableAttributeType : .binaryDataAttributeType
        guard attribute.attributeType == wanted else {
            throw TransformableError(
                .wrongType, "\(place) is not \(decode == nil ? "transformable" : "binary data").")
        }
        return place
    }
}

/// Throwing access to a tracked property: `note.$tags`.
public struct TrackedAttribute<Value> {
    fileprivate let object: NSManagedObject?
    fileprivate let storage: Tracked<Value>

    /// The error of the last assignment or of reading the attribute; nil if there is none.
    public var error: (any Error)? {
        if let error = storage.error { return error }
        do {
            _ = try get()
            return nil
        } catch {
            return error
        }
    }

    /// The value. Throws `TransformableError` if the attribute's value has another type.
    public func get() throws -> Value {
        guard let object else { return storage.initialValue }
        return try storage.read(object)
    }

    /// Sets the value. Throws `TransformableError` if it cannot be encoded.
    public func set(_ value: Value) throws {
        if let object { try storage.write(value, to: object) }
    }

    /// Changes the value in place. Throws as `get()` and `set(_:)` do, and the errors of the closure; then nothing is
    /// changed.
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        var value = try get()
        let result = try body(&value)
        try set(value)
        return result
    }
}

/// Equality of values as they are stored. The modules above use it by this name.
package typealias TransformableEquality = KeyedArchives.TransformableEquality
