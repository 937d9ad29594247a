import CoreData
import GraphDocuments

/// A difference between an entity of the document's model and of the model that it is imported into, by version hashes.
package struct DocumentModelDifference: Sendable, Hashable, CustomStringConvertible {
    /// The entity's name in the document if the document has it, else in the model.
    package var entity: String
    /// How the entity differs.
    package var kind: Kind

    /// How the models differ.
    package enum Kind: Sendable, Hashable {
        /// Both have the entity, with other properties.
        case changed
        /// The entity was renamed; its renaming identifier is the document's name.
        case renamed(to: String)
        /// The model does not have the entity: its records are skipped, or an error.
        case onlyInDocument
        /// The document's model does not have the entity.
        case onlyInModel
    }

    package var description: String {
        switch kind {
        case .changed: "\(entity) has other properties in the document's model."
        case .renamed(let name): "\(entity) is called \(name) now."
        case .onlyInDocument: "The model has no entity \(entity), which the document's has."
        case .onlyInModel: "The document's model has no entity \(entity)."
        }
    }

    /// The differences between a document's model and another model, sorted by name; empty if the document's header does
    /// not describe its model.
    static func differences(of header: DocumentHeader?, to model: NSManagedObjectModel) -> [DocumentModelDifference] {
        guard let theirs = header?.entityVersionHashes, !theirs.isEmpty else { return [] }
        let ours = model.entityVersionHashesByName
        var renamed: [String: String] = [:]
        for entity in model.sortedEntities {
            guard let earlier = entity.renamingIdentifier, let name = entity.name, ours[earlier] == nil else {
                continue
            }
            renamed[earlier] = name
        }
        var differences: [DocumentModelDifference] = []
        for (name, hash) in theirs {
            if let own = ours[name] {
                if own != hash { differences.append(DocumentModelDifference(entity: name, kind: .changed)) }
            } else if let new = renamed[name] {
                differences.append(DocumentModelDifference(entity: name, kind: .renamed(to: new)))
            } else {
                differences.append(DocumentModelDifference(entity: name, kind: .onlyInDocument))
            }
        }
        for name in ours.keys where theirs[name] == nil && !renamed.contains(where: { $1 == name && theirs[$0] != nil })
        {
            differences.append(DocumentModelDifference(entity: name, kind: .onlyInModel))
        }
        return differences.sorted { $0.entity < $1.entity }
    }
}

/// The changes that a record makes to the members of a to-many relationship, computed for objects and for rows.
///
/// Members are identified by a key, such as a primary key or an `ObjectIdentifier`. Results are indexes in the arrays that
/// the caller has passed, so that the caller can find the objects or rows.
package struct MemberDifference {
    /// The listed members, each once, in order.
    package private(set) var listed: [Int]
    /// The listed members that are not present.
    package private(set) var added: [Int] = []
    /// The present members that are removed.
    package private(set) var removed: [Int] = []
    /// Whether the members are the same, in another order that matters.
    package private(set) var isMoved = false

    /// Whether the relationship stays as it is.
    package var isEmpty: Bool { added.isEmpty && removed.isEmpty && !isMoved }

    /// - Parameters:
    ///   - present: The keys of the present members, each once.
    ///   - given: The keys of the members that a record lists.
    ///   - policy: What happens to present members that are not listed.
    ///   - isOrdered: Whether the relationship is ordered.
    init<Key: Hashable>(
        from present: [Key], to given: [Key], policy: RelationshipImportPolicy, isOrdered: Bool
    ) {
        listed = Array(given.indices)
        // The most frequent cases need no set: nothing changes, or some members are added to a new object.
        if present == given { return }
        listed = Self.firstOccurrences(in: given)
        guard !present.isEmpty else {
            added = listed
            return
        }
        let old = Set(present)
        added = listed.filter { !old.contains(given[$0]) }
        guard policy != .union else { return }
        let new = Set(given)
        removed = present.indices.filter { !new.contains(present[$0]) }
        isMoved = isOrdered && added.isEmpty && removed.isEmpty && !zip(present, listed).allSatisfy { $0 == given[$1] }
    }

    /// The changes to unordered members of a row, by their primary keys, which replace the present ones.
    ///
    /// Not generic, because another module would call generic code that is not specialised: a tenth of the instructions of an
    /// import.
    package init(ofRows present: [Int64], to given: [Int64]) {
        self.init(from: present, to: given, policy: .set, isOrdered: false)
    }

    /// The indexes of the keys that do not occur before in the list.
    private static func firstOccurrences<Key: Hashable>(in keys: [Key]) -> [Int] {
        // To compare some keys takes less time than to create a set.
        if keys.count <= 8 { return keys.indices.filter { !keys[..<$0].contains(keys[$0]) } }
        var met = Set<Key>(minimumCapacity: keys.count)
        return keys.indices.filter { met.insert(keys[$0]).inserted }
    }
}
