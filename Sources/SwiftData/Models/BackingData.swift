import CoreData
import ManagedObjects

/// Where the values of a model are.
public protocol BackingData<Model> {
    associatedtype Model: PersistentModel

    /// Creates backing data without values.
    init(for modelType: Model.Type)
    /// The identity of the object; nil if it has none yet.
    var persistentModelID: PersistentIdentifier? { get set }
    /// What the implementation keeps with the values.
    var metadata: Any { get }

    // A model that is Codable too, or an optional one, is a relationship and not an attribute.
    @_disfavoredOverload
    func getValue<Value: Decodable>(forKey: KeyPath<Model, Value>) -> Value
    func getValue<Value: PersistentModel>(forKey: KeyPath<Model, Value>) -> Value
    func getValue<Value: PersistentModel>(forKey: KeyPath<Model, Value?>) -> Value?
    func getValue<Value: RelationshipCollection, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
    where OtherModel == Value.PersistentElement
    func getValue<Value: RelationshipCollection & Decodable, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
    where OtherModel == Value.PersistentElement
    func getTransformableValue<Value>(forKey: KeyPath<Model, Value>) -> Value

    @_disfavoredOverload
    func setValue<Value: Encodable>(forKey: KeyPath<Model, Value>, to newValue: Value)
    func setValue<Value: PersistentModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
    func setValue<Value: PersistentModel>(forKey: KeyPath<Model, Value?>, to newValue: Value?)
    func setValue<Value: RelationshipCollection, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
    where OtherModel == Value.PersistentElement
    func setValue<Value: RelationshipCollection & Encodable, OtherModel>(
        forKey: KeyPath<Model, Value>, to newValue: Value)
    where OtherModel == Value.PersistentElement
    func setTransformableValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)

    /// The values, if the implementation is SwiftData's own.
    var _record: ModelRecord? { get }
}

extension BackingData {
    public var _record: ModelRecord? { nil }

    /// The backing data of a superclass, after it has taken the values that the initialiser of a subclass has set before.
    public func _joined<Super: PersistentModel>(to data: any BackingData<Super>) -> any BackingData<Super> {
        if let own = _record, let record = data._record, own !== record { record.join(own) }
        return data
    }
}

/// Backing data over a ``ModelRecord``. The module of a model makes it, which knows its type without looking it up.
@usableFromInline
@frozen
struct DefaultBackingData<Model: PersistentModel>: BackingData {
    @usableFromInline let record: ModelRecord

    @inlinable
    init(for modelType: Model.Type) { record = ModelRecord.forObject(of: modelType) }
    @inlinable
    init(_ record: ModelRecord) { self.record = record }

    @usableFromInline
    var _record: ModelRecord? { record }
    @usableFromInline
    var metadata: Any { record.modelClass.name }

    @usableFromInline
    var persistentModelID: PersistentIdentifier? {
        get { record.identifier }
        nonmutating set { if let newValue { record.temporaryIdentifier = newValue } }
    }

    @usableFromInline
    func getValue<Value: Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value { record.value(at: keyPath) }
    @usableFromInline
    func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>) -> Value { record.value(at: keyPath) }
    @usableFromInline
    func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>) -> Value? {
        record.value(at: keyPath)
    }
    @usableFromInline
    func getValue<Value: RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Model, Value>) -> Value
    where OtherModel == Value.PersistentElement { record.value(at: keyPath) }
    @usableFromInline
    func getValue<Value: RelationshipCollection & Decodable, OtherModel>(forKey keyPath: KeyPath<Model, Value>) -> Value
    where OtherModel == Value.PersistentElement { record.value(at: keyPath) }
    @usableFromInline
    func getTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value { record.value(at: keyPath) }

    // Init accessors call these functions, when the object itself does not exist yet.
    @usableFromInline
    func setValue<Value: Encodable>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        record.set(newValue, at: keyPath, of: nil)
    }
    @usableFromInline
    func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        record.set(newValue, at: keyPath, of: nil)
    }
    @usableFromInline
    func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>, to newValue: Value?) {
        record.set(newValue, at: keyPath, of: nil)
    }
    @usableFromInline
    func setValue<Value: RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
    where OtherModel == Value.PersistentElement { record.set(newValue, at: keyPath, of: nil) }
    @usableFromInline
    func setValue<Value: RelationshipCollection & Encodable, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement { record.set(newValue, at: keyPath, of: nil) }
    @usableFromInline
    func setTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        record.set(newValue, at: keyPath, of: nil)
    }
}

/// The managed object has the name of Apple's: programs without other access to it find it by reflection.
extension DefaultBackingData: CustomReflectable {
    @usableFromInline
    var customMirror: Mirror {
        var children: KeyValuePairs<String, Any> = [:]
        if let object = record.object {
            children = ["_managedObject": object, "_nsContext": object.managedObjectContext as Any]
        }
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
