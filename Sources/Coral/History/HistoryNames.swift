import CoreData
import GraphDocuments

/// The names of the objects in a history, present and deleted, both after and before its transactions.
///
/// `name(of:)` is unique among them. `formerNames(of:)` returns the names before the transactions: a deleted object may
/// have had the natural key that a present object has now, and a present object may have had another key.
struct HistoryNames {
    private let present: RecordNames
    private let fold: HistoryFold
    private let context: NSManagedObjectContext
    /// Nil if objects are named by their IDs.
    private let rules: IdentityRules?

    /// - Parameter rules: The natural keys that objects are named by; nil where they are named by their IDs.
    init(_ fold: HistoryFold, _ session: ExportSession, _ context: NSManagedObjectContext, rules: IdentityRules?) {
        present = session.recorder.names
        self.fold = fold
        self.context = context
        self.rules = rules
    }

    /// The unique name of an object: the exported name of a present object, or the ID of a deleted one.
    func name(of id: NSManagedObjectID) -> RecordID {
        guard case .deleted? = fold.fates[id] else { return present.name(of: id) }
        guard let rules, !rules.rules(of: id.entity).isEmpty else {
            return RecordNames(store: present.store).name(of: id)
        }
        // Without a natural key the record is named by its URI, which includes the store: a primary key alone would
        // identify another object in another store.
        return RecordID(id.uriRepresentation().absoluteString)
    }

    /// The names of objects before the transactions, by their unique names, where they differ; and the unique names of
    /// objects whose former key is not known. Cost: reads keys of the objects from the context.
    func formerNames(
        of ids: some Sequence<NSManagedObjectID>
    ) throws -> (names: [RecordID: RecordID], unknown: Set<RecordID>) {
        guard rules != nil else { return ([:], []) }
        var names: [RecordID: RecordID] = [:]
        var unknown: Set<RecordID> = []
        for id in ids {
            switch fold.fates[id] {
            case .inserted?, nil: continue
            case .deleted?: names[name(of: id)] = try formerKey(of: id)
            case .updated?:
                guard mayHaveAnotherKey(id, generation: 0) else { continue }
                if let key = try formerKey(of: id) { names[name(of: id)] = key } else { unknown.insert(name(of: id)) }
            }
        }
        return (names, unknown)
    }

    // MARK: - Keys

    /// Whether a transaction has set a part of the object's key, or a part of a related object's key that it contains.
    private func mayHaveAnotherKey(_ id: NSManagedObjectID, generation: Int) -> Bool {
        guard generation < 16, case .updated(let properties)? = fold.fates[id],
            let rule = rules?.rules(of: id.entity).first
        else { return false }
        return rule.parts.contains { part in
            if properties?.contains(part.name) ?? true { return true }
            guard case .relationship(let name) = part, let target = presentTarget(of: name, id) else { return false }
            return mayHaveAnotherKey(target, generation: generation + 1)
        }
    }

    /// The natural key of an object before the transactions; nil if it is not known or incomplete.
    private func formerKey(of id: NSManagedObjectID) throws -> RecordID? {
        guard let rule = rules?.rules(of: id.entity).first else { return nil }
        return try formerTexts(of: id, rule, generation: 0).map { .key(entity: rule.entity, values: $0) }
    }

    private func formerTexts(of id: NSManagedObjectID, _ rule: IdentityRule, generation: Int) throws -> [String]? {
        // The depth is limited: a deeper key refers to itself in a cycle.
        guard generation < 16 else { return nil }
        var texts: [String] = []
        for part in rule.parts {
            switch part {
            case .attribute(let name):
                guard let text = try formerText(of: name, id) else { return nil }
                texts.append(text)
            case .relationship(let name):
                guard let target = formerTarget(of: name, id), let inner = rules?.rules(of: target.entity).first,
                    let innerTexts = try formerTexts(of: target, inner, generation: generation + 1)
                else { return nil }
                texts += innerTexts
            }
        }
        return texts
    }

    private func formerText(of name: String, _ id: NSManagedObjectID) throws -> String? {
        guard let attribute = id.entity.attributesByName[name] else { return nil }
        func text(_ value: Any?) -> String? {
            GraphValue(value, declaredAs: GraphSchema.Attribute(attribute)).documentText
        }
        if fold.reversal.isComplete, let value = try fold.reversal.value(of: attribute, id) {
            return value.documentText
        }
        switch fold.fates[id] {
        case .deleted(let values)?: return text(values[name])
        case .updated(nil)?: return text(fold.replacedValues[id]?[name])
        case .updated(let properties?)? where properties.contains(name): return nil
        default: return text(try? context.existingObject(with: id).value(forKey: name))
        }
    }

    private func formerTarget(of name: String, _ id: NSManagedObjectID) -> NSManagedObjectID? {
        if fold.reversal.isComplete, let target = fold.reversal.target(of: name, id) { return target }
        switch fold.fates[id] {
        case .deleted?, .updated(nil)?: return nil
        case .updated(let properties?)? where properties.contains(name): return nil
        default: return presentTarget(of: name, id)
        }
    }

    private func presentTarget(of name: String, _ id: NSManagedObjectID) -> NSManagedObjectID? {
        ((try? context.existingObject(with: id))?.value(forKey: name) as? NSManagedObject)?.objectID
    }
}

extension HistoryFold {
    /// Adds the objects whose keys contain those of updated objects, because they may have other names. Cost: a fetch for
    /// each entity with such a key, and for each level of relationships in keys.
    mutating func addRenamed(by rules: IdentityRules, in context: NSManagedObjectContext) throws {
        let entities = context.persistentStoreCoordinator?.managedObjectModel.entities ?? []
        let keys = entities.compactMap { entity in
            rules.rules(of: entity).first.flatMap { $0.relationships.isEmpty ? nil : (entity, $0) }
        }
        guard !keys.isEmpty else { return }
        var pending = fates.compactMap { id, fate -> NSManagedObjectID? in
            guard case .updated(let properties) = fate, let rule = rules.rules(of: id.entity).first else { return nil }
            return rule.parts.contains { properties?.contains($0.name) ?? true } ? id : nil
        }
        for _ in 0..<16 where !pending.isEmpty {
            var found: Set<NSManagedObjectID> = []
            for (entity, rule) in keys {
                for relationship in rule.relationships {
                    let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
                    request.resultType = .managedObjectIDResultType
                    request.includesSubentities = false
                    request.predicate = NSPredicate(format: "%K IN %@", relationship, pending)
                    found.formUnion(try context.fetch(request))
                }
            }
            pending = found.filter { fates[$0] == nil }
            for id in pending { addUnchanged(id) }
        }
    }
}
