import CoreData
import Foundation
import ManagedObjects
import ModelFiles

/// One persisted property of a model class: how its value is read from a managed object and written to it.
class ModelProperty: @unchecked Sendable {  // because it is immutable
    let name: String
    let keyPath: AnyKeyPath
    /// The position among the properties of the class.
    let index: Int
    let valueType: any Any.Type
    let valueID: ObjectIdentifier
    let defaultValue: Any?
    let metadata: (any SchemaProperty)?
    /// Whether the property is a `let`, whose value is in the object itself.
    let isConstant: Bool
    /// The name as the engine's number, by which it finds the slot without hashing a string.
    let key: PropertyName

    init(_ declaration: Schema.PropertyMetadata, index: Int, path: String? = nil) {
        name = declaration.name
        keyPath = declaration.keypath
        self.index = index
        valueType = Swift.type(of: declaration.keypath).valueType
        valueID = ObjectIdentifier(valueType)
        defaultValue = declaration.defaultValue
        metadata = declaration.metadata
        key = PropertyName(path ?? declaration.name)
        isConstant = !Self.isWritable(declaration.keypath)
    }

    private static func isWritable(_ keyPath: AnyKeyPath) -> Bool {
        func root<Root>(_: Root.Type) -> Bool {
            func value<Value>(_: Value.Type) -> Bool { keyPath is ReferenceWritableKeyPath<Root, Value> }
            return _openExistential(type(of: keyPath).valueType, do: value)
        }
        return _openExistential(type(of: keyPath).rootType, do: root)
    }

    /// The value of a constant.
    func constantValue(of model: any PersistentModel) -> Any? {
        func read<Model: PersistentModel>(_ model: Model) -> Any? {
            (keyPath as? PartialKeyPath<Model>).map { model[keyPath: $0] }
        }
        return read(model)
    }

    var isRelationship: Bool { destination != nil }
    var isToMany: Bool { false }
    /// The class that a relationship leads to.
    var destination: (any PersistentModel.Type)? { nil }
    /// The form of an attribute in the store.
    var form: ValueForm? { nil }

    // These stop the program, because each subclass overrides them and no object of this class is created.

    /// The value of an object, in `Any`.
    func anyValue(in object: ModelObject, of record: ModelRecord) -> Any { fatalError("abstract") }
    /// Sets the value of an object.
    func setAny(_ value: Any, in object: ModelObject, of record: ModelRecord) { fatalError("abstract") }
    /// Whether the stored value, if there is one, has the type of the property.
    func isReadable(in object: ModelObject) -> Bool { true }
    /// The value of an object, in `Any`; nil if there is none, or it cannot be read.
    func valueIfReadable(in object: ModelObject, of record: ModelRecord) -> Any? {
        guard let stored = object.value(forKey: name) else { return nil }
        guard let form, !form.isPrimitive else { return anyValue(in: object, of: record) }
        return try? form.value(of: stored, as: unwrappedType(valueType))
    }
    /// Informs Observation that the property of a model has changed, by the engine.
    func announceChange(of model: any PersistentModel) {}
    /// The models in the value of a relationship.
    func models(in value: Any) -> [any PersistentModel] { [] }
    /// Puts the models in the value of a relationship on a stack, the first one on top.
    func push(modelsIn value: Any, on stack: inout [any PersistentModel]) {
        for model in models(in: value).reversed() { stack.append(model) }
    }
    /// Adds the models of a relationship to those that the other ends have set already.
    func link(_ value: Any, in object: ModelObject, of record: ModelRecord) { setAny(value, in: object, of: record) }
    /// The model of a relationship that always has one; nil if it may be nil, or is.
    func requiredModel(in object: ModelObject, of record: ModelRecord) -> Any? { nil }
    /// The value of a relationship to models.
    func value(of models: [any PersistentModel]) -> Any? { nil }

    /// The property of one element of `schemaMetadata`.
    static func made(from declaration: Schema.PropertyMetadata, index: Int) -> ModelProperty {
        let type = Swift.type(of: declaration.keypath).valueType
        let plain = unwrappedType(type)
        let kind = EnumerationLayout.kind(of: plain)
        if kind == .other, let model = plain as? any PersistentModel.Type {
            func toOne<M: PersistentModel>(_: M.Type) -> ModelProperty {
                OptionalLayout.wrappedType(of: type) != nil
                    ? OptionalToOneProperty<M>(declaration, index: index) : ToOneProperty<M>(declaration, index: index)
            }
            return _openExistential(model, do: toOne)
        }
        if kind == .structure, StoredPrimitive.of(plain) == nil,
            let collection = type as? any RelationshipCollection.Type
        {
            func toMany<C: RelationshipCollection>(_: C.Type) -> ModelProperty {
                ToManyProperty<C>(declaration, index: index)
            }
            return _openExistential(collection, do: toMany)
        }
        if let attribute = declaration.metadata as? Schema.Attribute, attribute.isTransformable {
            let name = attribute.options.lazy.compactMap(\.transformerName).first ?? ""
            func transformable<V>(_: V.Type) -> ModelProperty {
                BoxedProperty<V>(declaration, index: index, form: .transformed(by: name))
            }
            return _openExistential(type, do: transformable)
        }
        return attribute(declaration, index: index, type: type)
    }

    private static func attribute(_ declaration: Schema.PropertyMetadata, index: Int, type: any Any.Type)
        -> ModelProperty
    {
        let isCodable = (declaration.metadata as? Schema.Attribute)?.isCodable == true
        let form = isCodable ? .json : ValueForm.of(unwrappedType(type))
        let isOptional = OptionalLayout.wrappedType(of: type) != nil
        switch form {
        case .primitive:
            func slot<V: ManagedSlotValue>(_: V.Type) -> ModelProperty {
                isOptional
                    ? SlotProperty<V?>(declaration, index: index, form: form)
                    : SlotProperty<V>(declaration, index: index, form: form)
            }
            if let primitive = slotType(unwrappedType(type)) { return _openExistential(primitive, do: slot) }
        case .rawEnumeration:
            if let raw = unwrappedType(type) as? any RawRepresentable.Type {
                func enumeration<V: RawRepresentable>(_: V.Type) -> ModelProperty? {
                    func stored<R: ManagedSlotValue>(_: R.Type) -> ModelProperty {
                        isOptional
                            ? OptionalRawProperty<V, R>(declaration, index: index, form: form)
                            : RawProperty<V, R>(declaration, index: index, form: form)
                    }
                    guard let rawType = slotType(V.RawValue.self) else { return nil }
                    return _openExistential(rawType, do: stored)
                }
                if let made = _openExistential(raw, do: enumeration) { return made }
            }
        default: break
        }
        func boxed<V>(_: V.Type) -> ModelProperty { BoxedProperty<V>(declaration, index: index, form: form) }
        return _openExistential(type, do: boxed)
    }
}

/// A type that the engine reads and writes by itself; nil for other types.
private func slotType(_ type: any Any.Type) -> (any ManagedSlotValue.Type)? {
    switch type {
    case is String.Type: String.self
    case is Bool.Type: Bool.self
    case is Int.Type: Int.self
    case is Int64.Type: Int64.self
    case is Int32.Type: Int32.self
    case is Int16.Type: Int16.self
    case is Double.Type: Double.self
    case is Float.Type: Float.self
    case is Decimal.Type: Decimal.self
    case is Date.Type: Date.self
    case is UUID.Type: UUID.self
    case is URL.Type: URL.self
    case is Data.Type: Data.self
    default: nil
    }
}

/// A property of a known type.
class TypedProperty<Value>: ModelProperty, @unchecked Sendable {  // because its superclass is
    /// Informs the registrar of a model. Made once, with the class that declares the property, because casting the key path for each
    /// change costs ten times as much as informing.
    private let announcement: (AnyObject) -> Void

    override init(_ declaration: Schema.PropertyMetadata, index: Int, path: String? = nil) {
        announcement = Self.announcement(declaration.keypath)
        super.init(declaration, index: index, path: path)
    }

    private static func announcement(_ keyPath: AnyKeyPath) -> (AnyObject) -> Void {
        func made<Model: PersistentModel>(_: Model.Type) -> (AnyObject) -> Void {
            guard let typed = keyPath as? KeyPath<Model, Value> else { return { _ in } }
            return { model in
                // Unsafe because the property is one of the model's class, and the key path that of the class which declares it.
                let model = unsafeDowncast(model, to: Model.self)
                model._observationRegistrar?.withMutation(of: model, keyPath: typed) {}
            }
        }
        guard let root = type(of: keyPath).rootType as? any PersistentModel.Type else { return { _ in } }
        return _openExistential(root, do: made)
    }

    override final func announceChange(of model: any PersistentModel) { announcement(model) }

    // These stop the program, because each subclass overrides them and no object of this class is created.
    func value(in object: ModelObject, of record: ModelRecord) -> Value { fatalError("abstract") }
    func set(_ value: Value, in object: ModelObject, of record: ModelRecord) { fatalError("abstract") }

    override final func anyValue(in object: ModelObject, of record: ModelRecord) -> Any {
        value(in: object, of: record)
    }

    override final func setAny(_ value: Any, in object: ModelObject, of record: ModelRecord) {
        if isExactly(value, Value.self, id: valueID) {
            return set(exactly(value, as: Value.self), in: object, of: record)
        }
        setOther(value, in: object, of: record)
    }

    /// Not inlined, because the look-up of an optional type would come before the comparison of the usual one.
    @inline(never)
    private final func setOther(_ value: Any, in object: ModelObject, of record: ModelRecord) {
        guard let value = value as? Value else {
            preconditionFailure("\(name) must be \(Value.self), and is \(type(of: value)).")
        }
        set(value, in: object, of: record)
    }

    /// The value where the program has set none.
    func missingValue(of modelClass: ModelClass) -> Value {
        if let value = emptyOrDefault { return value }
        preconditionFailure(
            "\(modelClass.name).\(name) has no value. Set it in the initialiser, or make its type optional.")
    }

    /// The initial value of the source, nil, or no elements.
    var emptyOrDefault: Value? { (defaultValue as? Value) ?? Self.emptyValue }

    /// nil, or no elements.
    private static var emptyValue: Value? {
        if let optional = Value.self as? any OptionalType.Type { return optional.none as? Value }
        if let collection = Value.self as? any RelationshipCollection.Type {
            func empty<C: RelationshipCollection>(_: C.Type) -> Any { C._collection(of: []) }
            return _openExistential(collection, do: empty) as? Value
        }
        return nil
    }
}

// MARK: - Attributes

/// A value that the engine reads and writes by itself.
final class SlotProperty<Value: ManagedPropertyValue>: TypedProperty<Value>,
    @unchecked Sendable  // because its superclass is
{
    private let ownForm: ValueForm

    init(_ declaration: Schema.PropertyMetadata, index: Int, form: ValueForm) {
        ownForm = form
        super.init(declaration, index: index)
    }

    override var form: ValueForm? { ownForm }
    override func value(in object: ModelObject, of record: ModelRecord) -> Value {
        Value.managedValue(of: key, in: object)
    }
    override func set(_ value: Value, in object: ModelObject, of record: ModelRecord) {
        Value.setManagedValue(value, of: key, in: object)
    }
}

/// The value as one of the type that it has. Casting a value of a generic type costs more than reading it from the store.
@inline(__always)
private func same<Type, Same>(_ value: Type) -> Same {
    // Safe because the types are compared.
    precondition(Type.self == Same.self)
    return unsafeBitCast(value, to: Same.self)
}

/// An enumeration with raw values: a composite with one element of the same name.
final class RawProperty<Value: RawRepresentable, Raw: ManagedSlotValue>: TypedProperty<Value>,
    @unchecked Sendable  // because its superclass is
{
    private let ownForm: ValueForm

    init(_ declaration: Schema.PropertyMetadata, index: Int, form: ValueForm) {
        ownForm = form
        super.init(declaration, index: index, path: "\(declaration.name).\(declaration.name)")
    }

    override var form: ValueForm? { ownForm }

    override func value(in object: ModelObject, of record: ModelRecord) -> Value {
        if let raw = Raw.managedValueIfAny(of: key, in: object) {
            if let value = Value(rawValue: same(raw)) { return value }
            if defaultValue == nil {
                preconditionFailure(
                    "\(record.modelClass.name).\(name) is \(raw) in the store, which \(Value.self) does not have.")
            }
        }
        return missingValue(of: record.modelClass)
    }

    override func set(_ value: Value, in object: ModelObject, of record: ModelRecord) {
        let raw: Raw = same(value.rawValue)
        Raw.setManagedValueIfAny(raw, of: key, in: object)
    }
}

/// An optional enumeration with raw values. A raw value that the type does not have reads as nil.
final class OptionalRawProperty<Value: RawRepresentable, Raw: ManagedSlotValue>: TypedProperty<Value?>,
    @unchecked Sendable  // because its superclass is
{
    private let ownForm: ValueForm

    init(_ declaration: Schema.PropertyMetadata, index: Int, form: ValueForm) {
        ownForm = form
        super.init(declaration, index: index, path: "\(declaration.name).\(declaration.name)")
    }

    override var form: ValueForm? { ownForm }

    override func value(in object: ModelObject, of record: ModelRecord) -> Value? {
        guard let raw = Raw.managedValueIfAny(of: key, in: object) else { return nil }
        return Value(rawValue: same(raw))
    }

    override func set(_ value: Value?, in object: ModelObject, of record: ModelRecord) {
        guard let value else { return Raw.setManagedValueIfAny(nil, of: key, in: object) }
        let raw: Raw = same(value.rawValue)
        Raw.setManagedValueIfAny(raw, of: key, in: object)
    }
}

/// A value that is converted by its form: composites, arrays, transformables, small integers.
final class BoxedProperty<Value>: TypedProperty<Value>, @unchecked Sendable {  // because its superclass is
    private let ownForm: ValueForm

    init(_ declaration: Schema.PropertyMetadata, index: Int, form: ValueForm) {
        ownForm = form
        super.init(declaration, index: index)
    }

    override var form: ValueForm? { ownForm }

    override func value(in object: ModelObject, of record: ModelRecord) -> Value {
        do {
            if let value = try storedValue(in: object) { return value }
        } catch {
            if !(Value.self is any OptionalType.Type), defaultValue == nil {
                preconditionFailure("\(record.modelClass.name).\(name) cannot be read as \(Value.self): \(error)")
            }
        }
        return missingValue(of: record.modelClass)
    }

    /// The value of an object; nil if there is none.
    private func storedValue(in object: ModelObject) throws -> Value? {
        if let refused: Value = object.refusedValue(of: self) { return refused }
        if let stored = object.value(forKey: name) { return try value(of: stored) }
        // A structure whose properties are all nil has no column with a value.
        guard case .structure = ownForm, !(Value.self is any OptionalType.Type) else { return nil }
        return try? value(of: [String: Any]())
    }

    override func valueIfReadable(in object: ModelObject, of record: ModelRecord) -> Any? {
        guard let value = try? storedValue(in: object) else { return nil }
        return unwrapped(value)
    }

    private func value(of stored: Any) throws -> Value {
        let value = try ownForm.value(of: stored, as: unwrappedType(Value.self))
        guard let typed = value as? Value else { throw UnreadableValue(type: Swift.type(of: value)) }
        return typed
    }

    /// Why a stored value has not the type of the property.
    private struct UnreadableValue: Error, CustomStringConvertible {
        let type: Any.Type
        var description: String { "it is \(type) in the store." }
    }

    override func set(_ value: Value, in object: ModelObject, of record: ModelRecord) {
        // The value may be the initial one, changed in place, and would replace what cannot be read.
        if !(Value.self is any OptionalType.Type), object.value(forKey: name) != nil, !isReadable(in: object) {
            return object.refuseReplacement(of: self)
        }
        do {
            let stored = try unwrapped(value).map { try ownForm.stored($0, named: name) }
            object.acceptValue(of: self)
            try object.setAttribute(stored, of: self)
        } catch {
            object.refuse(value, of: self, because: error)
        }
    }

    override func isReadable(in object: ModelObject) -> Bool {
        object.value(forKey: name).map { (try? value(of: $0)) != nil } ?? true
    }
}
