import Foundation
import PredicateLanguage

/// A row as the subject of predicates and sort descriptors: its keys are the properties of its entity, relationships
/// give other rows. No object is created for it.
package final class RowSubject {
    package enum Content {
        /// Not read yet: only the key is known.
        case unread
        case values(ContiguousArray<Value>)
        /// Values that are read one by one.
        case source(any RowValues)
        case page(RowPage, row: Int)
        /// The row does not exist.
        case missing
    }

    package private(set) var key: ObjectKey
    /// The layout of the row's own entity.
    package private(set) var layout: EntityLayout
    package var content: Content
    /// The graph with related rows; nil after the evaluation.
    private weak var graph: (any RowGraph)?

    package init(key: ObjectKey, layout: EntityLayout, content: Content, graph: any RowGraph) {
        self.key = key
        self.layout = layout
        self.content = content
        self.graph = graph
    }

    /// The subject of the next row of a search. It is the last one if nobody kept that: most rows do not match, and need no
    /// subject of their own.
    package static func next(
        after last: inout RowSubject?, key: ObjectKey, layout: EntityLayout, content: Content, graph: any RowGraph
    ) -> RowSubject {
        guard isKnownUniquelyReferenced(&last), let subject = last else {
            let subject = RowSubject(key: key, layout: layout, content: content, graph: graph)
            last = subject
            return subject
        }
        subject.key = key
        if subject.layout !== layout { subject.layout = layout }
        subject.content = content
        return subject
    }

    /// The value of a slot; null if the row does not exist.
    func value(slot: Int) throws -> Value {
        guard layout.slots[slot].isPersistent else { throw notInStore(layout.slots[slot].name ?? "") }
        if case .unread = content { try graph?.read(self) }
        switch content {
        case .values(let values): return decoded(values[slot], slot: layout.slots[slot])
        case .source(let values): return decoded(try values.value(slot: slot), slot: layout.slots[slot])
        case .page(let page, let row): return page.value(of: page.cell(row: row, slot: slot), slot: layout.slots[slot])
        case .unread, .missing: return .null
        }
    }

    /// Transformable values are encoded in memory, as in files.
    private func decoded(_ value: Value, slot: EntityLayout.Slot) -> Value {
        guard slot.kind == .transformable, case .data(let data) = value, let attribute = slot.attribute else {
            return value
        }
        return TransformableCoding.decode(data, attribute: attribute)
    }

    /// The members of a to-many relationship, by its index in the layout.
    func members(field: Int) throws -> [RowSubject] {
        guard layout.toMany[field].isPersistent else { throw notInStore(layout.toMany[field].relationship.name) }
        return try graph?.members(field: field, of: self) ?? []
    }

    /// The error for a key that no row has: of no property, or of a transient one.
    private func notInStore(_ key: String) -> PredicateEvaluationError {
        PredicateEvaluationError(
            .unknownKey, "The entity “\(layout.entity.name ?? "")” has no property “\(key)” in the store.")
    }

    /// The row that a to-one relationship refers to.
    func destination(slot: Int) throws -> RowSubject? {
        guard case .reference(let key) = try value(slot: slot) else { return nil }
        return try graph?.destination(key, slot: slot, of: self)
    }

    /// The ID of the row's object.
    var objectID: NSManagedObjectID {
        graph?.objectID(for: key)
            ?? NSManagedObjectID(key: key, entity: layout.entity, storeIdentifier: nil)
    }
}

extension RowSubject: PredicateSubject {
    package func comparableValue(forKey key: String) throws -> PredicateValue {
        guard case .slot(let slot)? = layout.fieldsByKey[key] else {
            return PredicateValue(try predicateValue(forKey: key))
        }
        return try comparableValue(slot: slot)
    }

    private func comparableValue(slot: Int) throws -> PredicateValue {
        let kind = layout.slots[slot].kind
        return switch try value(slot: slot) {
        case .null: .null
        case .integer(let number): kind == .boolean ? .bool(number != 0) : .integer(number)
        case .real(let number):
            kind == .date ? .date(Date(timeIntervalSinceReferenceDate: number)) : .double(number)
        case .string(let text): .string(text)
        case .data(let data): .data(data)
        case .uuid(let uuid): .uuid(uuid)
        case .decimal(let number): .decimal(number)
        case .object(let box): box.value is UndecodableValue ? .null : PredicateValue(box.value)
        case .reference: try destination(slot: slot).map { .object($0) } ?? .null
        }
    }

    package func predicateValue(forKey key: String) throws -> Any? {
        switch layout.fieldsByKey[key] {
        case .slot(let slot): return try predicateValue(slot: slot)
        case .toMany(let field):
            return PredicateValue.collection(
                try members(field: field).map(PredicateValue.object), ordered: layout.toMany[field].isOrdered)
        case .composite(let composite, _): return try elements(of: composite, path: key)
        case .fetched, nil:
            switch key {
            case "self", "SELF": return self
            case "objectID": return objectID
            case "entity": return layout.entity
            default:
                throw notInStore(key)
            }
        }
    }

    /// Objects and IDs of the same row equal the row.
    package var predicateIdentity: AnyHashable? { AnyHashable(objectID) }

    private func predicateValue(slot: Int) throws -> Any? {
        if case .object(let box) = try value(slot: slot) { return box.value is UndecodableValue ? nil : box.value }
        return try comparableValue(slot: slot).value
    }

    /// The values of a composite's elements, by name.
    private func elements(of composite: NSCompositeAttributeDescription, path: String) throws -> [String: Any] {
        var values: [String: Any] = [:]
        for element in composite.elements {
            values[element.name] = try predicateValue(forKey: "\(path).\(element.name)")
        }
        return values
    }
}

/// The values of a row, each of which is converted when it is read.
package protocol RowValues {
    /// The value of a slot. Transformable values are encoded.
    func value(slot: Int) throws -> Value
}

/// Rows and their relationships, read during an evaluation.
package protocol RowGraph: AnyObject {
    /// The row with a key. Whether it exists is known only after it is read.
    func subject(for key: ObjectKey) throws -> RowSubject?
    /// The row to which a slot of another one refers.
    func destination(_ key: ObjectKey, slot: Int, of subject: RowSubject) throws -> RowSubject?
    /// Reads the content of a row.
    func read(_ subject: RowSubject) throws
    /// The members of a to-many relationship of a row, by its index in the layout, in order.
    func members(field: Int, of subject: RowSubject) throws -> [RowSubject]
    /// The ID of a row's object.
    func objectID(for key: ObjectKey) -> NSManagedObjectID
}

extension RowGraph {
    package func destination(_ key: ObjectKey, slot: Int, of subject: RowSubject) throws -> RowSubject? {
        try self.subject(for: key)
    }
}
