import CoreData
import GraphDocuments

/// Finds the objects of a delta by the names of their records: object URIs, primary keys, or natural keys. An object
/// whose key the delta changes has another name in the delta's old state than in its new one.
struct DeltaTargets {
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    /// The UUIDs of the stores whose primary keys the delta contains; empty if its headers have none.
    private let storeUUIDs: [String]
    private let model: ImportModel
    private let lookup: IdentityLookup
    private let conversion = ValueConversion(ImportOptions())
    /// The objects by their names in the old state.
    private var objects: [RecordID: NSManagedObject] = [:]
    private var missing: Set<RecordID> = []
    /// Inserted and renamed objects by their names in the new state; nil for a renamed object that is missing.
    private var named: [RecordID: NSManagedObject?] = [:]
    /// The former names of renamed objects.
    private var formerNames: Set<RecordID> = []
    /// Keeps prefetched objects alive until they are used.
    private var held: [NSManagedObject] = []

    init(_ context: NSManagedObjectContext, identity: ObjectIdentity, storeUUIDs: [String]) throws {
        guard let coordinator = context.rootCoordinator else {
            throw ImportError(.noContext, "The context has no persistent store coordinator.")
        }
        var options = ImportOptions()
        options.identity = identity
        self.context = context
        self.coordinator = coordinator
        self.storeUUIDs = storeUUIDs
        model = try ImportModel(coordinator.managedObjectModel, options: options)
        lookup = IdentityLookup(context: context, model: model, batchSize: options.lookupSize)
    }

    /// Whether the delta is of stores that the context does not have.
    var isOfOtherStore: Bool {
        !storeUUIDs.isEmpty && !coordinator.persistentStores.contains { storeUUIDs.contains($0.identifier) }
    }

    /// The entity with that name. Throws `ImportError` if the model has none.
    func entity(_ name: String) throws -> EntityImport {
        guard let entity = model.entity(name) else {
            let message = NameSuggestion.noEntity(name, in: coordinator.managedObjectModel.entitiesByName.keys)
            throw ImportError(.wrongEntity, message, entity: name)
        }
        return entity
    }

    /// Registers an inserted object.
    mutating func add(_ object: NSManagedObject, as id: RecordID) {
        named[id] = object
    }

    /// Registers the new name of an object before its key is changed. The object is nil if it is missing.
    mutating func rename(_ object: NSManagedObject?, from old: RecordID, to new: RecordID) {
        named[new] = .some(object)
        formerNames.insert(old)
    }

    /// Looks up several objects: one fetch for each key and batch, and for those named by primary key one for each
    /// entity.
    mutating func load(_ subjects: some Sequence<RecordSubject>) throws {
        var ids: [(RecordID, NSManagedObjectID)] = []
        var keys: [IdentityRule: [(RecordID, IdentityKey)]] = [:]
        for subject in Set(subjects) where objects[subject.id] == nil {
            if let id = objectID(subject.id) {
                ids.append((subject.id, id))
            } else if let (rule, key) = try identityKey(subject.id, in: try entity(subject.entity), generation: 0) {
                keys[rule, default: []].append((subject.id, key))
            }
        }
        held += try lookup.objects(with: ids.map(\.1))
        for (record, id) in ids {
            if let object = try? context.existingObject(with: id) { objects[record] = object }
        }
        for (rule, wanted) in keys {
            // Several names may have one key: `Tag/=1` and `Tag/=01` of a number.
            let names = Dictionary(grouping: wanted, by: \.1)
            for (key, found) in try lookup.objects(with: Array(names.keys), of: rule) where found.count == 1 {
                // A key that several objects have is ambiguous and matches none.
                for (name, _) in names[key] ?? [] { objects[name] = found[0] }
            }
        }
        for subject in subjects where objects[subject.id] == nil { missing.insert(subject.id) }
    }

    /// The object with a name in the new state; nil if there is none.
    mutating func newObject(_ id: RecordID, in entity: String) throws -> NSManagedObject? {
        if let known = named[id] { return known }
        return formerNames.contains(id) ? nil : try object(id, in: entity)
    }

    /// The object with a name in the old state; nil if there is none. `entity` is the destination of the relationship.
    mutating func object(_ id: RecordID, in entity: String) throws -> NSManagedObject? {
        if objects[id] == nil, !missing.contains(id) {
            try load([RecordSubject(entity: entity, id: id)])
        }
        return objects[id]
    }

    private func objectID(_ id: RecordID) -> NSManagedObjectID? {
        var uri = URL(string: id.text)
        if let entity = id.entity, let key = id.primaryKey {
            // In another store the primary key belongs to another object.
            let store = coordinator.persistentStores.first {
                storeUUIDs.isEmpty || storeUUIDs.contains($0.identifier ?? "")
            }
            guard let identifier = store?.identifier else { return nil }
            uri = URL(string: "x-coredata://\(identifier)/\(entity)/p\(key)")
        }
        guard let uri, ManagedObjectReference.isObjectURI(uri) else { return nil }
        return coordinator.managedObjectID(forURIRepresentation: uri)
    }

    private func identityKey(
        _ id: RecordID, in entity: EntityImport, generation: Int
    ) throws -> (IdentityRule, IdentityKey)? {
        // The id contains the entity of its key, which may be a subentity of a relationship's destination, or its superentity.
        let named = id.entity.flatMap { model.entity($0) } ?? entity
        let owner = named.isKind(of: entity) || entity.isKind(of: named) ? named : entity
        guard let rule = owner.rules.first(where: { $0.entity == owner.name }) ?? owner.rules.first,
            let values = id.keyValues
        else { return nil }
        var rest = ArraySlice(values)
        guard let key = try identityKey(&rest, rule, owner, generation: generation), rest.isEmpty else { return nil }
        return (rule, key)
    }

    private func identityKey(
        _ values: inout ArraySlice<String>, _ rule: IdentityRule, _ entity: EntityImport, generation: Int
    ) throws -> IdentityKey? {
        // The depth is limited: a deeper key refers to itself in a cycle.
        guard generation < 16 else { return nil }
        var parts: [IdentityKey.Part] = []
        for part in rule.parts {
            switch part {
            case .attribute(let name):
                guard let text = values.popFirst(), let type = entity.attributes[name]?.type,
                    let value = GraphValue(documentText: text, as: type.type)
                        ?? conversion.convert(.string(text), to: type)
                else { return nil }
                parts.append(.value(value))
            case .relationship(let name):
                guard let destination = entity.relationships[name].flatMap({ model.entity($0.destination) }),
                    let inner = destination.rules.first,
                    let innerKey = try identityKey(&values, inner, destination, generation: generation + 1),
                    let target = try lookup.objects(with: [innerKey], of: inner).first?.1.first
                else { return nil }
                parts.append(.object(target.objectID))
            }
        }
        return IdentityKey(rule: rule, parts: parts)
    }
}
