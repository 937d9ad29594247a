import CoreData
import Synchronization

/// What a model class states, resolved once: its properties by key path, and how each is read and written.
final class ModelClass: @unchecked Sendable {  // because it is immutable but for the cache, which holds a lock
    let type: any PersistentModel.Type
    /// The name of the entity: that of the class, without module and enclosing types.
    let name: String
    /// The class of the superclass, if that is a model too.
    let superclass: ModelClass?
    /// The properties, the inherited ones first; `index` is the position here.
    let properties: [ModelProperty]
    /// The constraints and indexes that the class itself states.
    let groups: [any PropertyGroups]
    private let byKeyPath: [AnyKeyPath: ModelProperty]
    private let addresses: KeyPathTable
    private let byName: [String: ModelProperty]
    /// The properties by the texts of their key paths, see `KeyPathComponents`.
    private let byText: [String: ModelProperty]
    /// Key paths that are not in the table, such as those of several parts; without properties if they lead elsewhere.
    private var otherKeyPaths: [AnyKeyPath: [ModelProperty]] = [:]
    private let lock = NSLock()

    private static let known = Mutex<[ObjectIdentifier: ModelClass]>([:])

    /// The description of a model. Cost: a lock and a look-up after the first time.
    static func of(_ type: any PersistentModel.Type) -> ModelClass {
        if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
        // Made without the lock, because `schemaMetadata` evaluates expressions of the program.
        let made = ModelClass(type)
        return known.withLock { known in
            let kept = known[ObjectIdentifier(type)] ?? made
            known[ObjectIdentifier(type)] = kept
            return kept
        }
    }

    private static let opened = Mutex<[String: ModelClass]>([:])

    /// The class of an entity in the container that was opened last; snapshots are decoded with it.
    static func current(named name: String) -> ModelClass? { opened.withLock { $0[name] } }

    /// Notes the classes of a container that is opened.
    static func note(_ classes: [ModelClass]) {
        opened.withLock { opened in
            for each in classes { opened[each.name] = each }
        }
    }

    static func name(of type: any Any.Type) -> String {
        let name = _typeName(type, qualified: false)
        // A generic class would have brackets in its name.
        return String(name.prefix { $0 != "<" })
    }

    /// The name with module and enclosing types, which tells the classes of several versions apart.
    var fullName: String { _typeName(type) }

    private init(_ type: any PersistentModel.Type) {
        self.type = type
        name = Self.name(of: type)
        superclass = (_getSuperclass(type) as? any PersistentModel.Type).map(ModelClass.of)
        let inherited = superclass?.properties ?? []
        let metadata = type.schemaMetadata
        let inheritedKeyPaths = Set(inherited.map(\.keyPath))
        var properties = inherited
        var groups: [any PropertyGroups] = []
        for element in metadata where !inheritedKeyPaths.contains(element.keypath) {
            let metadata = element.metadata
            if metadata == nil || metadata is Schema.Attribute || metadata is Schema.Relationship {
                properties.append(ModelProperty.made(from: element, index: properties.count))
            } else if let group = metadata as? any PropertyGroups {
                groups.append(group)
            }
        }
        let inheritedGroups = superclass.map { $0.allGroups.count } ?? 0
        self.groups = Array(groups.dropFirst(inheritedGroups))
        self.properties = properties
        addresses = KeyPathTable(count: properties.count)
        byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        byKeyPath = Dictionary(properties.map { ($0.keyPath, $0) }, uniquingKeysWith: { first, _ in first })
        byText = Dictionary(
            properties.compactMap { property in
                KeyPathComponents.texts(of: property.keyPath).map { ($0.joined(separator: "."), property) }
            }, uniquingKeysWith: { first, _ in first })
    }

    private var allGroups: [any PropertyGroups] { (superclass?.allGroups ?? []) + groups }

    var inheritedProperties: [ModelProperty] { superclass?.properties ?? [] }

    /// The properties that the class itself declares.
    var ownProperties: ArraySlice<ModelProperty> { properties.dropFirst(inheritedProperties.count) }

    func isKind(of other: ModelClass) -> Bool {
        var current: ModelClass? = self
        while let each = current {
            if each === other { return true }
            current = each.superclass
        }
        return false
    }

    /// The property of a key path; nil if the key path leads elsewhere.
    func property(_ keyPath: AnyKeyPath) -> ModelProperty? {
        let path = path(of: keyPath)
        return path?.count == 1 ? path?.first : nil
    }

    /// The properties that a key path leads through; nil if it leads elsewhere.
    func path(of keyPath: AnyKeyPath) -> [ModelProperty]? {
        if let found = byKeyPath[keyPath] { return [found] }
        let known = lock.withLock { otherKeyPaths[keyPath] }
        // The search runs outside the lock, because it creates the descriptions of related classes, which search in turn.
        let found = known ?? KeyPathComponents.path(of: keyPath, in: self) ?? []
        if known == nil { lock.withLock { otherKeyPaths[keyPath] = found } }
        return found.isEmpty ? nil : found
    }

    /// The property whose key path has a text.
    func property(withText text: String) -> ModelProperty? { byText[text] }

    /// The property with a name, which for a composite may be followed by the path of an element.
    func property(named name: String) -> ModelProperty? {
        byName[name] ?? name.firstIndex(of: ".").flatMap { byName[String(name[..<$0])] }
    }

    /// The property of a key path of a known type. It lives as long as the program.
    func typedProperty<Value>(_ keyPath: AnyKeyPath) -> Unmanaged<TypedProperty<Value>> {
        if let known = addresses.property(of: keyPath),
            known._withUnsafeGuaranteedRef({ $0.valueID == ObjectIdentifier(Value.self) })
        {
            return .fromOpaque(known.toOpaque())  // because the type was compared
        }
        guard let property = property(keyPath) else {
            preconditionFailure(
                "\(name) has no persisted property at \(keyPath): @Model persists its stored properties only.")
        }
        guard property.valueID == ObjectIdentifier(Value.self) else {
            preconditionFailure("\(name).\(property.name) is \(property.valueType), and was accessed as \(Value.self).")
        }
        addresses.add(keyPath, property)
        return .fromOpaque(Unmanaged.passUnretained(property).toOpaque())  // because the type was compared
    }

    /// The models that are reachable by relationships and inheritance from some.
    ///
    /// Versions of a schema share the classes that have not changed, and a relationship of a shared class names one class, of one
    /// version. In the other versions it leads to their own class of that name: a given class takes the place of others.
    static func reachable(from types: [any PersistentModel.Type]) -> [ModelClass] {
        let given = types.map(ModelClass.of)
        let names = Set(given.map(\.name))
        var found: [ModelClass] = []
        var pending = Array(given.reversed())
        var seen: Set<ObjectIdentifier> = []
        while let next = pending.popLast() {
            guard seen.insert(ObjectIdentifier(next.type)).inserted else { continue }
            found.append(next)
            if let superclass = next.superclass { pending.append(superclass) }
            pending += next.properties.compactMap { $0.destination.map(ModelClass.of) }.filter {
                !names.contains($0.name)
            }
        }
        return found
    }

    /// Creates the model of a managed object.
    func makeModel(over object: ModelObject, in context: RecordContext?) -> any PersistentModel {
        let record = ModelRecord(self, object, in: context)
        func make<Model: PersistentModel>(_: Model.Type) -> any PersistentModel {
            Model._object(of: record)
        }
        let model = record.initialisingModel { _openExistential(type, do: make) }
        object.model = model
        return model
    }
}
