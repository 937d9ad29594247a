import CoreDataErrors
import Foundation
import ManagedObjects

/// The rows of a batch insertion, in the order in which the request returns them.
struct BatchRows {
    /// A new row, and the slots that the request sets.
    typealias Row = (values: ContiguousArray<Value>, slots: [Int])

    /// The next row; nil after the last.
    let next: () throws -> Row?

    /// - Throws: `CocoaError.coreData` if the request has nothing to insert.
    init(_ request: NSBatchInsertRequest, entity: NSEntityDescription, store: any SQLBatchStore) throws {
        let layout = entity.layout
        let reader = BatchValues(layout, of: store)
        let ignored = layout.slots.indices.filter { !layout.slots[$0].isAssignable }
        /// As in a save, values of derived and transient attributes are not written.
        func row(_ values: ContiguousArray<Value>, _ slots: [Int]) throws -> Row {
            try reader.check(values, slots: slots, isNew: true)
            guard !ignored.isEmpty else { return (values, slots) }
            var values = values
            for slot in ignored { values[slot] = layout.initialValues[slot] }
            return (values, slots.filter { layout.slots[$0].isAssignable })
        }
        func row(_ dictionary: [String: Any]) throws -> Row {
            var values = layout.initialValues
            let slots = try reader.set(dictionary, in: &values)
            return try row(values, slots)
        }
        if let objects = request.objectsToInsert {
            var position = 0
            next = {
                guard position < objects.count else { return nil }
                defer { position += 1 }
                return try row(objects[position])
            }
        } else if let handler = request.dictionaryHandler {
            next = {
                let dictionary = NSMutableDictionary()
                if handler(dictionary) { return nil }
                var named: [String: Any] = [:]
                for (key, value) in dictionary { if let key = key as? String { named[key] = value } }
                return try row(named)
            }
        } else if let handler = request.managedObjectHandler {
            next = {
                let object = entity.managedObjectClass.init(entity: entity, insertInto: nil)
                if handler(object) { return nil }
                return try row(object.currentValues(), Array(layout.slots.indices))
            }
        } else {
            throw CocoaError(.coreData, "The batch insertion has no rows: set objects or a handler.")
        }
    }
}

/// Converts the values of batch requests to values of slots.
struct BatchValues {
    let layout: EntityLayout
    /// The number of the store; references to objects of other stores are invalid.
    private let store: UInt16
    private let coordinator: NSPersistentStoreCoordinator?
    /// Whether the values of each slot are checked: numbers with a range, and references of one-to-one relationships.
    private let areChecked: [Bool]

    init(_ layout: EntityLayout, of store: any SQLBatchStore) {
        self.layout = layout
        areChecked = layout.slots.map { $0.kind.range != nil || $0.isOneToOne }
        self.store = store.number
        coordinator = store.persistentStoreCoordinator
    }

    /// The value for a slot.
    ///
    /// - Throws: `CocoaError.coreData` for a value of the wrong type, or an object that is not in the store.
    func value(_ value: Any, slot: Int) throws -> Value {
        let description = layout.slots[slot]
        guard description.kind == .toOne else {
            do {
                return try Value(value, kind: description.kind)
            } catch let error as UnacceptableValue {
                throw failure(
                    "“\(description.name ?? "")” of “\(layout.entity.name ?? "")” takes \(error.expected), "
                        + "not \(error.actual).")
            }
        }
        if value is NSNull { return .null }
        guard let id = (value as? NSManagedObject)?.objectID ?? value as? NSManagedObjectID, !id.isTemporaryID,
            let key = coordinator?.key(for: id), key.store == store, key.number > 0,
            description.destination?.subtree.contains(Int(key.entity)) == true
        else {
            throw failure(
                "“\(description.name ?? "")” of “\(layout.entity.name ?? "")” requires an object of the same store and of "
                    + "the relationship's destination.")
        }
        return .reference(key)
    }

    /// Sets the values of a dictionary in a row. Elements of composites are given by nested dictionaries or by paths.
    /// Returns the slots that were set.
    func set(_ dictionary: [String: Any], in row: inout ContiguousArray<Value>, prefix: String = "") throws -> [Int] {
        var slots: [Int] = []
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            let name = prefix + key
            switch layout.fields[name] {
            case .slot(let slot)?:
                row[slot] = try self.value(value, slot: slot)
                slots.append(slot)
            case .composite(_, let elements)? where value is NSNull:
                for slot in elements { row[slot] = .null }
                slots += elements
            case .composite?:
                guard let elements = value as? [String: Any] else {
                    throw failure("The composite attribute “\(name)” requires a dictionary.")
                }
                slots += try set(elements, in: &row, prefix: name + ".")
            case .toMany?:
                throw failure("The to-many relationship “\(name)” cannot be set by a batch request.")
            case .fetched?, nil:
                throw failure("The entity “\(layout.entity.name ?? "")” has no property “\(name)” to set.")
            }
        }
        return slots
    }

    /// Ensures that a batch request can set the values of slots: the column of a number has no range, and the partner of a
    /// one-to-one relationship refers to the row too.
    ///
    /// - Parameter isNew: Whether the row has had no values, so that null changes no other row.
    /// - Throws: `CocoaError.coreData` for a number outside of its attribute's range, and for a one-to-one relationship.
    func check(_ row: ContiguousArray<Value>, slots: [Int], isNew: Bool = false) throws {
        for slot in slots where areChecked[slot] {
            if isNew, case .null = row[slot] { continue }
            let description = layout.slots[slot]
            let name = "“\(description.name ?? "")” of “\(layout.entity.name ?? "")”"
            if description.isOneToOne {
                throw failure("\(name) is a one-to-one relationship: a batch request does not set its other side.")
            }
            if case .integer(let number) = row[slot], let range = description.kind.range, !range.contains(number) {
                throw failure("\(number) is not in the range of \(name).")
            }
        }
    }

    private func failure(_ sentence: String) -> CocoaError { CocoaError(.coreData, sentence) }
}

extension EntityLayout.Slot {
    /// Whether a request can give the value: a store computes that of a derived attribute, and has none of a transient one.
    var isAssignable: Bool { isPersistent && !(attribute is NSDerivedAttributeDescription) }

    /// Whether the slot is a to-one relationship whose inverse is one too, so that two rows refer to each other.
    fileprivate var isOneToOne: Bool {
        guard kind == .toOne, let relationship = property as? NSRelationshipDescription, !relationship.isToMany else {
            return false
        }
        return relationship.inverseRelationship?.isToMany == false
    }
}

extension EntityLayout.Slot.Kind {
    /// The numbers that an attribute of the kind can have; nil if it can have all that a column can, or a fraction.
    var range: ClosedRange<Int64>? {
        switch self {
        case .boolean: 0...1
        case .integer16: Int64(Int16.min)...Int64(Int16.max)
        case .integer32: Int64(Int32.min)...Int64(Int32.max)
        default: nil
        }
    }
}

extension NSMergePolicyType {
    /// Whether a batch insertion updates the existing row that has unique values of a new row. Otherwise the new row is
    /// omitted.
    ///
    /// - Throws: `CocoaError.managedObjectConstraintMerge` if the policy is to report the conflict.
    func updatesExistingRow(of entity: SchemaEntity, with constraint: [String]) throws -> Bool {
        switch self {
        case .errorMergePolicyType:
            throw CocoaError(
                .managedObjectConstraintMerge,
                "A new row of “\(entity.name)” has values of \(constraint.joined(separator: ", ")) "
                    + "that another row has.")
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: return false
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: return true
        }
    }
}

/// A stored row that has unique values of a row of a batch insertion, and gets its values. Its entity may be another one of the
/// hierarchy: it gets the values of those properties that both have.
struct HeldRow {
    /// The entity of the stored row.
    let entity: SQLEntity
    let key: Int64
    /// The slots that are written, ascending.
    let slots: [Int]
    /// By slot of the stored row's entity.
    let values: ContiguousArray<Value>

    /// - Parameters:
    ///   - new: The entity of the new row.
    ///   - policy: Whether the stored row gets all values, or those that the request sets.
    init(
        of holder: ObjectKey, in schema: SQLSchema, gets row: BatchRows.Row, of new: SQLEntity,
        policy: NSMergePolicyType, now: Double
    ) throws {
        guard let entity = schema.entity(at: Int(holder.entity)) else {
            throw CocoaError(
                .persistentStoreSave, "A row with unique values of a new one is of no entity of the store.")
        }
        let derivations = OwnDerivations(entity.entity)
        var values = ContiguousArray(repeating: Value.null, count: entity.entity.slots.count)
        var slots: Set<Int> = []
        for slot in policy == .overwriteMergePolicyType ? new.storedSlots : row.slots {
            // Entities of one table share the columns of properties that they inherit from one entity.
            guard let column = new.columns[slot],
                let own = entity.columns.firstIndex(where: { $0?.name == column.name }),
                !derivations.derivedSlots.contains(own)
            else { continue }
            values[own] = row.values[slot]
            slots.insert(own)
        }
        _ = derivations.apply(to: &values, now: now)
        slots.formUnion(derivations.slots(from: slots).filter { entity.columns[$0] != nil })
        self.entity = entity
        key = holder.number
        self.slots = slots.sorted()
        self.values = values
    }
}
