import Foundation
import Synchronization

/// The reference objects by which a store identifies its rows, and the numbers that represent them in object keys.
///
/// Two reference objects are equal if their texts are: a URI contains only the text. Entities of one hierarchy share
/// their reference objects, as they share primary keys in SQLite.
package final class ObjectReferences: Sendable {
    private struct RowName: Hashable {
        let root: Int
        let number: Int64
    }

    private struct ReferenceName: Hashable {
        let root: Int
        let text: String
    }

    private struct Reference: @unchecked Sendable {  // because reference objects are never changed
        let object: Any
        let text: String
        /// The object's own entity: the most specific one with which its ID has been created.
        var entity: NSEntityDescription
    }

    private struct Content {
        var numbers: [ReferenceName: Int64] = [:]
        var references: [RowName: Reference] = [:]
        var lastNumber: Int64 = 0
    }

    private let content = Mutex(Content())

    package init() {}

    /// The number of a reference object; a new one if the reference object is new.
    package func number(of reference: Any, entity: NSEntityDescription) -> Int64 {
        let root = entity.rootEntity.index
        let name = ReferenceName(root: root, text: Self.text(of: reference))
        nonisolated(unsafe) let reference = reference  // because the lock guards its storage
        return content.withLock { content in
            if let known = content.numbers[name] {
                let row = RowName(root: root, number: known)
                if let former = content.references[row]?.entity, former !== entity, entity.isKindOf(entity: former) {
                    content.references[row]?.entity = entity
                }
                return known
            }
            content.lastNumber += 1
            content.numbers[name] = content.lastNumber
            content.references[RowName(root: root, number: content.lastNumber)] = Reference(
                object: reference, text: name.text, entity: entity)
            return content.lastNumber
        }
    }

    /// Assigns a reference object to a row that already has a number.
    ///
    /// - Returns: False if the reference object identifies another row.
    package func assign(_ reference: Any, to number: Int64, entity: NSEntityDescription) -> Bool {
        let root = entity.rootEntity.index
        let name = ReferenceName(root: root, text: Self.text(of: reference))
        nonisolated(unsafe) let reference = reference  // because the lock guards its storage
        return content.withLock { content in
            guard content.numbers[name] == nil else { return false }
            content.lastNumber = max(content.lastNumber, number)
            content.numbers[name] = number
            content.references[RowName(root: root, number: number)] = Reference(
                object: reference, text: name.text, entity: entity)
            return true
        }
    }

    /// Changes the numbers of rows, all at once.
    func renumber(_ rows: [(entity: NSEntityDescription, from: Int64, to: Int64)]) {
        content.withLock { content in
            let moved = rows.map { row in
                content.references.removeValue(forKey: RowName(root: row.entity.rootEntity.index, number: row.from))
            }
            for (row, reference) in zip(rows, moved) {
                guard let reference else { continue }
                let root = row.entity.rootEntity.index
                content.references[RowName(root: root, number: row.to)] = reference
                content.numbers[ReferenceName(root: root, text: reference.text)] = row.to
                content.lastNumber = max(content.lastNumber, row.to)
            }
        }
    }

    /// A row's own entity, if it is known.
    func entity(of number: Int64, root: NSEntityDescription) -> NSEntityDescription? {
        let name = RowName(root: root.rootEntity.index, number: number)
        return content.withLock { $0.references[name]?.entity }
    }

    /// The reference object of a row; nil for an unknown number.
    package func reference(of number: Int64, entity: NSEntityDescription) -> Any? {
        let name = RowName(root: entity.rootEntity.index, number: number)
        return content.withLock { $0.references[name] }?.object
    }

    /// The text of a row's reference object in its URI.
    func text(of number: Int64, entity: NSEntityDescription) -> String? {
        let name = RowName(root: entity.rootEntity.index, number: number)
        return content.withLock { $0.references[name]?.text }
    }

    /// The text of a reference object: strings unchanged, data as hexadecimal digits, others by their description.
    static func text(of reference: Any) -> String {
        switch reference {
        case let text as String: text
        case let uuid as UUID: uuid.uuidString
        case let url as URL: url.absoluteString
        case let data as Data: "<" + data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + ">"
        case let object as NSObject: object.description
        default: String(describing: reference)
        }
    }
}

/// The ID of an object whose store identifies rows by reference objects.
package final class ReferencedObjectID: NSManagedObjectID, @unchecked Sendable {  // because it is immutable
    /// The text of the reference object.
    package let text: String

    init(key: ObjectKey, text: String, origin: ObjectIDOrigin) {
        self.text = text
        super.init(key: key, origin: origin)
    }

    package override func uriRepresentation() -> URL { uri(endingIn: "p" + text) }

    /// Numbers are valid within one coordinator only, so the texts are compared.
    package override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ReferencedObjectID else { return super.isEqual(object) }
        return self === other
            || text == other.text && storeIdentifier == other.storeIdentifier
                && entity.rootEntity.name == other.entity.rootEntity.name
    }

    package override var hash: Int { text.hashValue }
}
