import Coral
import CoralTools

// A change of attributes without an object for each row: no class of an app observes the objects of the command.

#if !STORE_ENGINE
    extension SetCommand {
        func rowPlan(
            _ assigned: AssignmentPlan, _ entity: NSEntityDescription, _ open: OpenStore
        ) throws -> StoreChange.Plan? { nil }

        func writeRows(_ open: OpenStore, _ planned: StoreChange.Plan) throws {}
    }
#else
    import ManagedObjects
    import SQLStores

    extension SetCommand {
        /// The plan of a change of rows; nil if objects are needed. Must be called on the queue of the store's context.
        ///
        /// All objects get the same values, which are validated once. Throws their error, and `CommandError` if no object matches.
        func rowPlan(
            _ assigned: AssignmentPlan, _ entity: NSEntityDescription, _ open: OpenStore
        ) throws -> StoreChange.Plan? {
            guard let change = try rowChange(assigned, entity),
                let planned = try open.context.withRows(
                    of: open.store, { try plan(change, $0, isShown: open.store.isReadOnly) }) ?? nil
            else { return nil }
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.fetchLimit = 1
            guard !planned.summary.isEmpty else {
                request.predicate = try condition.predicate(for: entity, in: zone.zone)
                guard try open.context.count(for: request) > 0 else { throw noObject }
                return planned
            }
            request.predicate = change.predicate
            for object in try open.context.fetch(request) { try change.validate(for: object) }
            return planned
        }

        /// Changes the rows of a plan. Throws `CommandError` if another process has changed them.
        func writeRows(_ open: OpenStore, _ planned: StoreChange.Plan) throws {
            let description = try open.entity(named: entity)
            let assigned = try AssignmentPlan(
                assignments, of: description, in: open, zone: zone.zone, readsFiles: readsFiles)
            guard let change = try rowChange(assigned, description) else { throw StoreChange.hasChanged }
            _ = try open.context.update(change.update, of: open.store) { rows in
                guard try plan(change, rows, isShown: false)?.agrees(with: planned) == true else {
                    throw StoreChange.hasChanged
                }
            }
        }

        private func rowChange(_ assigned: AssignmentPlan, _ entity: NSEntityDescription) throws -> RowChange? {
            RowChange(assigned, of: entity, where: try condition.predicate(for: entity, in: zone.zone))
        }

        /// The plan for the rows of a state; nil if the database does not have their values.
        ///
        /// - Parameter isShown: Whether the plan has its lines. Without them memory does not grow with the number of rows.
        private func plan(_ change: RowChange, _ rows: StoreRows, isShown: Bool) throws -> StoreChange.Plan? {
            var lines: [String] = []
            var hasher = Hasher()
            let count = try change.forEach(in: rows) { name, key, old, new in
                hasher.combine(name)
                hasher.combine(old.exactText(in: nil))
                if isShown { lines.append("\(name).\(key): \(text(of: old)) -> \(text(of: new))") }
            }
            return count.map { count in
                StoreChange.Plan(
                    lines: lines, summary: count == 0 ? "" : "change \(Quantity.count(count, "object")) of \(entity)",
                    rowHash: hasher.finalize())
            }
        }
    }

    /// The rows of an entity in which at least one of some attributes does not have its new value.
    private struct RowChange {
        private let entity: String
        private let constants: [(key: String, schema: GraphSchema.Attribute, value: Any?)]
        private let query: RowQuery
        let predicate: NSPredicate

        /// Nil if objects are needed: for relationships, parts of composite values, attributes of a uniqueness constraint, and
        /// entities with derived attributes.
        init?(_ assigned: AssignmentPlan, of entity: NSEntityDescription, where condition: NSPredicate?) {
            guard let constants = assigned.constants else { return nil }
            let entities = PlainSchema.hierarchy(of: entity).sorted { ($0.name ?? "") < ($1.name ?? "") }
            let keys = Set(constants.map(\.key))
            guard !entities.contains(where: { Self.needsObjects($0, keys) }) else { return nil }
            let differ = NSCompoundPredicate(
                orPredicateWithSubpredicates: constants.map { Self.predicate($0.key, differsFrom: $0.value) })
            predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [condition, differ].compactMap { $0 })
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.predicate = predicate
            let columns = ["objectID"] + constants.map(\.key)
            guard
                let query = RowQuery(
                    columns.map { QueryColumn($0, of: entity) }, of: entities, matching: request, isSorted: false)
            else { return nil }
            self.query = query
            self.constants = constants
            self.entity = entity.name ?? ""
        }

        private static func needsObjects(_ entity: NSEntityDescription, _ keys: Set<String>) -> Bool {
            let isUnique = sequence(first: entity, next: \.superentity).contains { entity in
                entity.uniquenessConstraints.joined().contains {
                    keys.contains(($0 as? String) ?? ($0 as? NSPropertyDescription)?.name ?? "")
                }
            }
            return isUnique || entity.attributesByName.values.contains { $0 is NSDerivedAttributeDescription }
        }

        private static func predicate(_ key: String, differsFrom value: Any?) -> NSPredicate {
            let isNull = NSComparisonPredicate(key, .equalTo, nil)
            guard let value else { return NSCompoundPredicate(notPredicateWithSubpredicate: isNull) }
            return NSCompoundPredicate(orPredicateWithSubpredicates: [
                isNull, NSComparisonPredicate(key, .notEqualTo, value),
            ])
        }

        /// Throws an error if an object must not have the values. Its other properties do not matter: it is one of many.
        func validate(for object: NSManagedObject) throws {
            for constant in constants {
                var value = constant.value
                try object.validateValue(&value, forKey: constant.key)
            }
        }

        /// The request that changes the rows.
        var update: NSBatchUpdateRequest {
            let request = NSBatchUpdateRequest(entityName: entity)
            request.predicate = predicate
            request.propertiesToUpdate = constants.reduce(into: [:]) { $0[$1.key] = $1.value ?? NSNull() }
            return request
        }

        /// Passes each changed value to a closure, with the name of its object, and returns the number of objects; nil if the
        /// database does not have the values.
        func forEach(
            in rows: StoreRows, _ body: (_ name: String, _ key: String, _ old: QueryCell, _ new: QueryCell) -> Void
        ) throws -> Int? {
            let new = constants.map { constant -> QueryCell in
                let value = GraphValue(constant.value, declaredAs: constant.schema)
                return value.isNull ? .null : .value(value, constant.schema)
            }
            return try query.forEach(in: rows, .discreteProgress(totalUnitCount: 0)) { row in
                let cells = try row.cells()
                let name = cells[0].text(in: nil)
                for (index, constant) in constants.enumerated() where cells[index + 1] != new[index] {
                    body(name, constant.key, cells[index + 1], new[index])
                }
            }
        }
    }
#endif
