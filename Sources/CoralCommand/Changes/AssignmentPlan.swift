import Coral

/// Assignments that were checked against an entity, with their values.
struct AssignmentPlan {
    private enum Step {
        case attribute(key: String, GraphSchema.Attribute, value: Any?)
        case toOne(key: String, NSManagedObject?)
        case toMany(NSRelationshipDescription, Assignment.Operation, [NSManagedObject])
    }

    private let steps: [Step]

    /// Converts the values to the types of the properties, and finds the objects that they name. Must be called on the
    /// queue of the store's context.
    ///
    /// - Parameters:
    ///   - zone: The time zone of dates that do not state one; nil for UTC.
    ///   - readsFiles: Whether binary values may be those of files. Only the user of the command line may read files.
    /// Throws `CommandError` for a property that the entity does not have, and for a value that its property cannot have.
    init(
        _ assignments: [Assignment], of entity: NSEntityDescription, in open: OpenStore, zone: TimeZone?,
        readsFiles: Bool
    ) throws {
        var keys: Set<String> = []
        steps = try assignments.map { assignment in
            guard keys.insert(assignment.key).inserted || assignment.operation != .replace else {
                throw CommandError("\(assignment.key) is assigned twice.")
            }
            return try Self.step(assignment, entity, open, zone, readsFiles)
        }
    }

    private static func step(
        _ assignment: Assignment, _ entity: NSEntityDescription, _ open: OpenStore, _ zone: TimeZone?,
        _ readsFiles: Bool
    ) throws -> Step {
        let path = KeyPathCheck.keys(of: assignment.key)
        if let relationship = entity.relationshipsByName[assignment.key] {
            return try step(assignment, relationship, open)
        }
        guard assignment.operation == .replace else {
            throw CommandError("\(assignment.text): only members of a to-many relationship are added or removed.")
        }
        guard let attribute = entity.attributesByName[path[0]], path.count <= 2 else {
            try KeyPathCheck(entity).check(path, in: assignment.text)
            throw CommandError("\(assignment.key) is not a property of \(entity.name ?? "") itself.")
        }
        guard !attribute.isTransient, !(attribute is NSDerivedAttributeDescription) else {
            throw CommandError("\(assignment.key) is not stored, or computed by the store: it cannot be set.")
        }
        var schema = GraphSchema.Attribute(attribute)
        if path.count == 2 {
            try KeyPathCheck(entity).check(path, in: assignment.text)
            guard let element = schema.elements.first(where: { $0.name == path[1] }) else {
                throw CommandError(
                    "\(path[0]) has no element \"\(path[1])\".\(NameSuggestion.advice(for: path[1], in: schema.elements.map(\.name)))"
                )
            }
            schema = element
        }
        let value = try AssignedValue(assignment, schema, zone, readsFiles: readsFiles).object()
        return .attribute(key: assignment.key, schema, value: value)
    }

    private static func step(
        _ assignment: Assignment, _ relationship: NSRelationshipDescription, _ open: OpenStore
    ) throws -> Step {
        let names =
            assignment.value == "null"
            ? [] : assignment.value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        // An empty value is probably a mistake, such as an unset shell variable.
        guard !names.isEmpty || assignment.value == "null" && assignment.operation == .replace else {
            throw CommandError(
                "\(assignment.text) names no object. To remove all references write \(relationship.name)=null.")
        }
        let objects = try names.map { name in
            guard let argument = ObjectArgument(argument: name) else {
                throw CommandError(
                    "\(assignment.text): \"\(name)\" is not an object. Write its URI, or an entity and a key: "
                        + "\(relationship.destinationEntity?.name ?? "")/p1.")
            }
            let object = try argument.object(in: open)
            if let destination = relationship.destinationEntity, !object.entity.isKindOf(entity: destination) {
                throw CommandError(
                    "\(assignment.text): \(name) is a \(object.entity.name ?? ""), and \(relationship.name) refers to "
                        + "\(destination.name ?? "").")
            }
            return object
        }
        if relationship.isToMany { return .toMany(relationship, assignment.operation, objects) }
        guard assignment.operation == .replace, objects.count <= 1 else {
            throw CommandError("\(assignment.text): \(relationship.name) refers to one object.")
        }
        return .toOne(key: relationship.name, objects.first)
    }

    /// The values of attributes, if nothing but whole attributes are assigned: the same values in all objects.
    var constants: [(key: String, schema: GraphSchema.Attribute, value: Any?)]? {
        let found = steps.compactMap { step -> (key: String, schema: GraphSchema.Attribute, value: Any?)? in
            guard case .attribute(let key, let schema, let value) = step, !key.contains(".") else { return nil }
            return (key, schema, value)
        }
        return found.count == steps.count ? found : nil
    }

    /// Applies the assignments to an object, of any context of the store. Values that are equal already are not set.
    func apply(to object: NSManagedObject) {
        let own = { (target: NSManagedObject) in object.managedObjectContext?.object(with: target.objectID) ?? target }
        for step in steps {
            switch step {
            case .attribute(let key, let schema, let value):
                // Compared as graph values, because strings that Swift considers equal may consist of different Unicode
                // scalars.
                let old = GraphValue(object.value(forKeyPath: key), declaredAs: schema)
                if old != GraphValue(value, declaredAs: schema) { object.setValue(value, forKeyPath: key) }
            case .toOne(let key, let target):
                let target = target.map(own)
                if object.value(forKey: key) as? NSManagedObject !== target { object.setValue(target, forKey: key) }
            case .toMany(let relationship, let operation, let targets):
                apply(operation, targets.map(own), to: relationship, of: object)
            }
        }
    }

    private func apply(
        _ operation: Assignment.Operation, _ targets: [NSManagedObject], to relationship: NSRelationshipDescription,
        of object: NSManagedObject
    ) {
        let value = object.value(forKey: relationship.name)
        let members =
            (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
        let old = members.compactMap { $0 as? NSManagedObject }
        var new = old
        switch operation {
        case .replace: new = targets
        case .add: for target in targets where !new.contains(target) { new.append(target) }
        case .remove: new.removeAll { targets.contains($0) }
        }
        guard relationship.isOrdered ? new != old : Set(new) != Set(old) else { return }
        object.setValue(
            relationship.isOrdered ? NSOrderedSet(array: new) : NSSet(array: new), forKey: relationship.name)
    }
}
