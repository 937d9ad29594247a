import CoreData
import Observation

/// A class whose objects a ``ModelContainer`` stores. The macro `@Model` writes the conformance.
///
/// An object has its values before it is inserted into a context; insertion makes them those of a row. An object belongs to its
/// context's queue or actor: pass its ``persistentModelID`` to another.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
    associatedtype Root: PersistentModel = Self

    /// Creates an object over existing backing data, without values of its own.
    init(backingData: any BackingData<Self>)
    /// Creates the object of a record.
    static func _object(of record: ModelRecord) -> Self
    /// Where the values are.
    var persistentBackingData: any BackingData<Self> { get set }
    /// The persisted properties, in the order of the declaration.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }
    /// The values, if they are where SwiftData itself puts them, and if the backing data which has them is that of the model itself.
    /// `@Model` finds them once for each object, because each access would copy the backing data, which is a value of any type.
    var _heldRecord: Unmanaged<ModelRecord>? { get }
    /// The registrar that is informed of changes which the program does not make by the accessors.
    var _observationRegistrar: ObservationRegistrar? { get }
}

/// An array of models, optional or not: the value of a to-many relationship.
public protocol RelationshipCollection {
    associatedtype PersistentElement: PersistentModel
    /// The collection of elements.
    static func _collection(of elements: [PersistentElement]) -> Self
    /// The elements.
    var _elements: [PersistentElement] { get }
}

extension Array: RelationshipCollection where Element: PersistentModel {
    public typealias PersistentElement = Element
    public static func _collection(of elements: [Element]) -> [Element] { elements }
    public var _elements: [Element] { self }
}

extension Optional: RelationshipCollection
where Wrapped: RelationshipCollection & Sequence, Wrapped.Element: PersistentModel {
    public typealias PersistentElement = Wrapped.PersistentElement
    public static func _collection(of elements: [PersistentElement]) -> Wrapped? { Wrapped._collection(of: elements) }
    public var _elements: [PersistentElement] { self?._elements ?? [] }
}

extension PersistentModel {
    public var _observationRegistrar: ObservationRegistrar? { nil }
    public var _heldRecord: Unmanaged<ModelRecord>? { nil }

    /// The registrar of the superclass: one for each object, because observers of an inherited property do not know the subclass.
    public var _inheritedRegistrar: ObservationRegistrar {
        guard let registrar = _observationRegistrar else {
            preconditionFailure(
                "The superclass of \(Self.self) has no registrar of Observation. Declare it with @Model.")
        }
        return registrar
    }

    @inlinable
    public static func _object(of record: ModelRecord) -> Self { Self(backingData: DefaultBackingData<Self>(record)) }

    /// Backing data without values, for a new object.
    public static func createBackingData<P: PersistentModel>() -> some BackingData<P> {
        DefaultBackingData<P>(for: P.self)
    }

    /// The same for the expansion of `@Model`, which stores it as a value of any type: an opaque type costs each object a look-up of its
    /// metadata.
    @inlinable
    public static func _createBackingData<P: PersistentModel>() -> any BackingData<P> {
        DefaultBackingData<P>(for: P.self)
    }

    /// The values, if they are where SwiftData itself puts them.
    @usableFromInline
    var _record: ModelRecord? {
        if let record = _heldRecord { return record.takeUnretainedValue() }
        return persistentBackingData._record
    }

    /// The backing data of a model of any class.
    var erasedBackingData: any BackingData { persistentBackingData }

    /// The identity of the object: temporary until it is saved.
    public var persistentModelID: PersistentIdentifier {
        if let record = _record { return record.identifier }
        return persistentBackingData.persistentModelID
            ?? PersistentIdentifier(temporaryFor: ModelClass.name(of: Self.self))
    }

    /// The same as ``persistentModelID``.
    public var id: PersistentIdentifier { persistentModelID }

    /// Whether the object was inserted, changed or deleted since the last save.
    public var hasChanges: Bool { _record?.object?.hasChanges ?? false }

    /// Whether the object was deleted. It keeps its last known values.
    public var isDeleted: Bool { _record?.isDeleted ?? false }

    /// The context of the object; nil before insertion, and after its deletion was saved.
    public var modelContext: ModelContext? { _record?.modelContext }

    /// Whether both are the same object. The same row in two contexts has two objects: compare their ``persistentModelID``.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs === rhs }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// MARK: - Values

// The accessors of `@Model` call these functions, and notify Observation. A `DefaultBackingData` has a record, which looks up the
// property once. `if let` instead of `??`, which would look up the metadata of the optional type at each access. `@inlinable`, so that
// the module of the model reads its record without a call.

extension PersistentModel {
    // A model that is Codable too, or an optional one, is a relationship and not an attribute.
    @_disfavoredOverload
    @inlinable
    public func getValue<Value: Decodable>(forKey keyPath: KeyPath<Self, Value>) -> Value {
        if let record = _heldRecord { return record._withUnsafeGuaranteedRef { $0.value(at: keyPath) } }
        if let record = _record { return record.value(at: keyPath) }
        return persistentBackingData.getValue(forKey: keyPath)
    }

    @inlinable
    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>) -> Value {
        if let record = _heldRecord { return record._withUnsafeGuaranteedRef { $0.value(at: keyPath) } }
        if let record = _record { return record.value(at: keyPath) }
        return persistentBackingData.getValue(forKey: keyPath)
    }

    @inlinable
    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>) -> Value? {
        if let record = _heldRecord { return record._withUnsafeGuaranteedRef { $0.value(at: keyPath) } }
        if let record = _record { return record.value(at: keyPath) }
        return persistentBackingData.getValue(forKey: keyPath)
    }

    @inlinable
    public func getValue<Value: RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Self, Value>) -> Value
    where OtherModel == Value.PersistentElement {
        if let record = _heldRecord { return record._withUnsafeGuaranteedRef { $0.value(at: keyPath) } }
        if let record = _record { return record.value(at: keyPath) }
        return persistentBackingData.getValue(forKey: keyPath)
    }

    @inlinable
    public func getValue<Value: RelationshipCollection & Decodable, OtherModel>(forKey keyPath: KeyPath<Self, Value>)
        -> Value
    where OtherModel == Value.PersistentElement {
        if let record = _heldRecord { return record._withUnsafeGuaranteedRef { $0.value(at: keyPath) } }
        if let record = _record { return record.value(at: keyPath) }
        return persistentBackingData.getValue(forKey: keyPath)
    }

    @inlinable
    public func getTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>) -> Value {
        if let record = _heldRecord { return record._withUnsafeGuaranteedRef { $0.value(at: keyPath) } }
        if let record = _record { return record.value(at: keyPath) }
        return persistentBackingData.getTransformableValue(forKey: keyPath)
    }

    @_disfavoredOverload
    @inlinable
    public func setValue<Value: Encodable>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
        if let record = _heldRecord {
            return record._withUnsafeGuaranteedRef { $0.set(newValue, at: keyPath, of: self) }
        }
        if let record = _record { return record.set(newValue, at: keyPath, of: self) }
        persistentBackingData.setValue(forKey: keyPath, to: newValue)
    }

    @inlinable
    public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
        if let record = _heldRecord {
            return record._withUnsafeGuaranteedRef { $0.set(newValue, at: keyPath, of: self) }
        }
        if let record = _record { return record.set(newValue, at: keyPath, of: self) }
        persistentBackingData.setValue(forKey: keyPath, to: newValue)
    }

    @inlinable
    public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>, to newValue: Value?) {
        if let record = _heldRecord {
            return record._withUnsafeGuaranteedRef { $0.set(newValue, at: keyPath, of: self) }
        }
        if let record = _record { return record.set(newValue, at: keyPath, of: self) }
        persistentBackingData.setValue(forKey: keyPath, to: newValue)
    }

    @inlinable
    public func setValue<Value: RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Self, Value>, to newValue: Value
    )
    where OtherModel == Value.PersistentElement {
        if let record = _heldRecord {
            return record._withUnsafeGuaranteedRef { $0.set(newValue, at: keyPath, of: self) }
        }
        if let record = _record { return record.set(newValue, at: keyPath, of: self) }
        persistentBackingData.setValue(forKey: keyPath, to: newValue)
    }

    @inlinable
    public func setValue<Value: RelationshipCollection & Encodable, OtherModel>(
        forKey keyPath: KeyPath<Self, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement {
        if let record = _heldRecord {
            return record._withUnsafeGuaranteedRef { $0.set(newValue, at: keyPath, of: self) }
        }
        if let record = _record { return record.set(newValue, at: keyPath, of: self) }
        persistentBackingData.setValue(forKey: keyPath, to: newValue)
    }

    @inlinable
    public func setTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
        if let record = _heldRecord {
            return record._withUnsafeGuaranteedRef { $0.set(newValue, at: keyPath, of: self) }
        }
        if let record = _record { return record.set(newValue, at: keyPath, of: self) }
        persistentBackingData.setTransformableValue(forKey: keyPath, to: newValue)
    }
}
