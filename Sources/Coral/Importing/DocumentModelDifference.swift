import CoreData
import GraphDocuments

/// An entity in which the model of a document differs from the model that it is imported into, by their version hashes.
public struct DocumentModelDifference: Sendable, Hashable, CustomStringConvertible {
    /// The entity, as the document calls it where the document has it.
    public var entity: String
    /// How the entity differs.
    public var kind: Kind

    /// How the models differ.
    public enum Kind: Sendable, Hashable {
        /// Both have the entity, with other properties.
        case changed
        /// The entity is called otherwise now, and is known by its renaming identifier.
        case renamed(to: String)
        /// The model has no such entity: its records are passed over, or are an error.
        case onlyInDocument
        /// The document's model had no such entity.
        case onlyInModel
    }

    public var description: String {
        switch kind {
        case .changed: "\(entity) has other properties in the document's model."
        case .renamed(let name): "\(entity) is called \(name) now."
        case .onlyInDocument: "The model has no entity \(entity), which the document's has."
        case .onlyInModel: "The document's model has no entity \(entity)."
        }
    }

    /// The differences between a document's model and another, by name; none where the document says nothing of its model.
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

/// What becomes of that in a document of another model version which this version has no place for: entities and members that
/// neither their names nor renaming identifiers find.
public enum OtherModelPolicy: String, Sendable, Hashable, CaseIterable {
    /// It is an error.
    case fail
    /// It is left out, and stands among the plan's conflicts.
    case skip
    /// Members are left out of the objects and kept in the plan's `leftovers`, for whoever wants to put them elsewhere.
    /// Records of entities that there are no more are left out.
    case keep
}

/// A member of a record that the model has no place for.
public struct ImportLeftover: Sendable, Hashable {
    /// The record, and the object that it became.
    public var subject: ImportSubject
    /// What the document calls it.
    public var member: String
    /// Its value, as the format alone can tell it; nil for an array or an object.
    public var value: GraphValue?
}
