import CoreData
import GraphDocuments

extension GraphDelta {
    /// Applies the delta's changes to the objects of a context, all or none, unsaved. Objects are found by object URI,
    /// by primary key or by natural key, depending on how the delta names its records. Primary keys belong to the store in
    /// the delta's headers, so an object of another store is missing; without a header they belong to the context's first
    /// store. An object whose key the delta changes is found by its former key (`RecordUpdate.formerID`). To revert a delta,
    /// apply its `inverse`.
    ///
    /// Throws `DeltaError` with the code `unknownKey` if the delta has `updatesWithUnknownKey`. With `checking`, throws
    /// `DeltaError` if an object does not have the state that the delta contains; without
    /// it, missing objects are skipped, and a relationship is left unchanged if all its new destinations are missing. Throws
    /// `ImportError` if a value does not fit the
    /// model. Call it on the context's queue. Cost: one fetch for each entity and batch of objects. `progress` counts
    /// changes; if it is cancelled, the method throws `CocoaError.userCancelled` and changes nothing.
    public func apply(
        to context: NSManagedObjectContext, checking: Bool = true, identity: ObjectIdentity = ObjectIdentity(),
        folder: URL? = nil, progress: Progress? = nil
    ) throws {
        try requireApplicable()
        // The child has its parent's concurrency type: a private queue may wait for the main queue's context, but not
        // the reverse.
        let own = NSManagedObjectContext(concurrencyType: context.concurrencyType)
        own.parent = context
        own.undoManager = nil
        try own.performAndWait {
            var application = DeltaApplication(
                own, targets: try DeltaTargets(own, identity: identity, storeUUIDs: storeUUIDs),
                isChecking: checking, folder: folder, progress: progress)
            try application.apply(changes)
            if own.hasChanges { try own.save() }
        }
    }

    /// The UUIDs of the stores of both states.
    private var storeUUIDs: [String] { [oldHeader, newHeader].compactMap { $0?.storeUUID } }
}

/// One application of a delta, in a context of its own: all objects are found and checked before anything is changed.
private struct DeltaApplication {
    let context: NSManagedObjectContext
    var targets: DeltaTargets
    let isChecking: Bool
    let folder: URL?
    let progress: Progress?

    init(
        _ context: NSManagedObjectContext, targets: DeltaTargets, isChecking: Bool, folder: URL?,
        progress: Progress?
    ) {
        self.progress = progress
        self.context = context
        self.targets = targets
        self.isChecking = isChecking
        self.folder = folder
    }

    mutating func apply(_ changes: [RecordChange]) throws {
        try targets.load(changes.map(\.formerSubject))
        try findRenamed(changes)
        for change in changes where isChecking {
            switch change {
            case .inserted: break
            case .updated(let update): try check(update)
            case .deleted(let record):
                // Before a deletion, every value and relationship of the deleted record is checked.
                try check(
                    RecordUpdate(
                        id: record.id, entity: record.entity,
                        attributes: record.attributes.map { AttributeChange(name: $0.name, old: $0.value, new: nil) },
                        relationships: record.relationships.map {
                            let change = RelationshipChange.Change.replaced(old: $0.target, new: nil)
                            return RelationshipChange(name: $0.name, isOrdered: $0.isOrdered, change: change)
                        }))
            }
        }
        for change in changes {
            guard case .inserted(let record) = change else { continue }
            let entity = try targets.entity(record.entity)
            let known = try targets.newObject(record.id, in: record.entity)
            if isChecking, known != nil {
                throw DeltaError(.exists, "\(change.subject) exists already.", at: change.subject)
            }
            let object =
                known ?? NSEntityDescription.insertNewObject(forEntityName: entity.name, into: context)
            targets.add(object, as: record.id)
        }
        progress?.begin(changes.count)
        for change in changes {
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            try setValues(change)
        }
        for change in changes {
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            try setLinks(change)
            progress?.completedUnitCount += 1
        }
        for case .deleted(let record) in changes {
            guard let object = try found(RecordSubject(entity: record.entity, id: record.id)) else { continue }
            context.delete(object)
        }
        context.processPendingChanges()
    }

    /// Finds the objects whose keys the delta changes, before one of them is changed.
    private mutating func findRenamed(_ changes: [RecordChange]) throws {
        var renamed: [(NSManagedObject?, RecordID, RecordID)] = []
        for case .updated(let update) in changes {
            guard case .renamed(let old) = update.oldID else { continue }
            renamed.append((try found(RecordSubject(entity: update.entity, id: old)), old, update.id))
        }
        for (object, old, new) in renamed { targets.rename(object, from: old, to: new) }
    }

    /// The object of a record of the old state; nil if it is missing and checking is off.
    private mutating func found(_ subject: RecordSubject) throws -> NSManagedObject? {
        try required(try targets.object(subject.id, in: subject.entity), subject)
    }

    /// The object of a record of the new state; nil if it is missing and checking is off.
    private mutating func newObject(_ subject: RecordSubject) throws -> NSManagedObject? {
        try required(try targets.newObject(subject.id, in: subject.entity), subject)
    }

    private func required(_ object: NSManagedObject?, _ subject: RecordSubject) throws -> NSManagedObject? {
        if object == nil, isChecking {
            let remedy =
                targets.isOfOtherStore && subject.id.primaryKey != nil
                ? " The delta names objects by the keys of another store: compare with the naming `.keys`." : ""
            throw DeltaError(.missing, "\(subject) does not exist.\(remedy)", at: subject)
        }
        return object
    }

    // MARK: - Checking

    private mutating func check(_ update: RecordUpdate) throws {
        let subject = RecordSubject(entity: update.entity, id: update.id)
        let former = update.formerID ?? update.id
        guard let object = try found(RecordSubject(entity: update.entity, id: former)) else { return }
        let entity = try targets.entity(update.entity)
        for change in update.attributes {
            // The store may not have computed a derived value yet.
            guard let attribute = entity.attributes[change.name], !attribute.isDerived, let old = change.old else {
                continue
            }
            guard try attribute.value(of: object) == old else {
                throw DeltaError(.mismatch, "\(subject).\(change.name) does not have the expected value.", at: subject)
            }
        }
        for change in update.relationships {
            guard let relationship = entity.relationships[change.name] else { continue }
            let now = members(of: object, relationship)
            let isRight: Bool
            switch change.change {
            case .members(let removed, let added):
                let lost = try removed.map { try targets.object($0, in: relationship.destination) }
                let got = try added.compactMap { try targets.newObject($0, in: relationship.destination) }
                let present = Set(now.map(ObjectIdentifier.init))
                func isPresent(_ object: NSManagedObject) -> Bool { present.contains(ObjectIdentifier(object)) }
                isRight = lost.allSatisfy { $0.map(isPresent) ?? false } && !got.contains(where: isPresent)
            case .replaced(let old?, _):
                let was = try old.ids.compactMap { try targets.object($0, in: relationship.destination) }
                isRight = relationship.isOrdered ? was == now : Set(was) == Set(now)
            case .replaced(nil, _): isRight = true
            }
            if !isRight {
                throw DeltaError(
                    .mismatch, "\(subject).\(change.name) does not refer to the expected objects.", at: subject)
            }
        }
    }

    private func members(of object: NSManagedObject, _ relationship: RelationshipImport) -> [NSManagedObject] {
        switch object.value(forKey: relationship.name) {
        case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        case let target as NSManagedObject: [target]
        default: []
        }
    }

    // MARK: - Changing

    private mutating func setValues(_ change: RecordChange) throws {
        let attributes: [(String, GraphValue)]
        switch change {
        case .inserted(let record): attributes = record.attributes.map { ($0.name, $0.value) }
        case .updated(let update): attributes = update.attributes.map { ($0.name, $0.new ?? .null) }
        case .deleted: return
        }
        let subject = change.subject
        let entity = try targets.entity(subject.entity)
        guard let object = try newObject(subject) else { return }
        for (name, value) in attributes {
            guard let attribute = entity.attributes[name] else {
                throw ImportError(
                    .unknownKey, "\(entity.name) has no attribute \"\(name)\".", record: subject.id,
                    entity: entity.name, property: name)
            }
            if !attribute.isDerived {
                object.setValue(try attribute.object(for: value, folder: folder), forKey: attribute.name)
            }
        }
    }

    private mutating func setLinks(_ change: RecordChange) throws {
        let subject = change.subject
        let entity = try targets.entity(subject.entity)
        switch change {
        case .inserted(let record):
            for relationship in record.relationships {
                try set(relationship.name, of: subject, entity, to: relationship.target)
            }
        case .updated(let update):
            for relationship in update.relationships {
                switch relationship.change {
                case .replaced(_, let new): try set(relationship.name, of: subject, entity, to: new ?? .nullToMany)
                case .members(let removed, let added):
                    let known = try self.relationship(relationship.name, of: subject, entity)
                    guard let object = try newObject(subject) else { continue }
                    let members = object.mutableSetValue(forKey: known.name)
                    for id in removed {
                        if let target = try targets.object(id, in: known.destination) { members.remove(target) }
                    }
                    for id in added {
                        if let target = try target(id, in: known.destination) { members.add(target) }
                    }
                }
            }
        case .deleted: break
        }
    }

    private mutating func target(_ id: RecordID, in destination: String) throws -> NSManagedObject? {
        try newObject(RecordSubject(entity: destination, id: id))
    }

    private func relationship(
        _ name: String, of subject: RecordSubject, _ entity: EntityImport
    ) throws -> RelationshipImport {
        guard let relationship = entity.relationships[name] else {
            throw ImportError(
                .unknownKey, "\(entity.name) has no relationship \"\(name)\".", record: subject.id,
                entity: entity.name, property: name)
        }
        return relationship
    }

    private mutating func set(
        _ name: String, of subject: RecordSubject, _ entity: EntityImport, to target: RelationshipTarget
    ) throws {
        let relationship = try relationship(name, of: subject, entity)
        guard let object = try newObject(subject) else { return }
        let objects = try target.ids.compactMap { try self.target($0, in: relationship.destination) }
        // Without checking, missing objects are skipped: a reference to nothing else does not clear what the object refers to.
        if objects.isEmpty, !target.ids.isEmpty { return }
        if !relationship.isToMany {
            object.setValue(objects.first, forKey: relationship.name)
        } else if relationship.isOrdered {
            object.setValue(NSOrderedSet(array: objects), forKey: relationship.name)
        } else {
            object.setValue(NSSet(array: objects), forKey: relationship.name)
        }
    }
}

extension RecordChange {
    /// The changed record, with its id in the old state if that is known.
    fileprivate var formerSubject: RecordSubject {
        guard case .updated(let update) = self, let former = update.formerID else { return subject }
        return RecordSubject(entity: update.entity, id: former)
    }
}
