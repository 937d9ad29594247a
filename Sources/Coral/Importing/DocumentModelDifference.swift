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

/// The policy for entities and members of another model version that this model has neither by name nor by renaming
/// identifier.
public enum OtherModelPolicy: String, Sendable, Hashable, CaseIterable {
    /// They are errors.
    case fail
    /// They are omitted and reported as conflicts of the plan.
    case skip
    /// Members are omitted from the objects and kept in the plan's `unmappedMembers`. Records of entities that the model does
    /// not have are omitted.
    case keep
}

/// A member of a record that the model does not have.
public struct UnmappedMember: Sendable, Hashable {
    /// The record and its object.
    public var subject: ImportSubject
    /// The member's name in the document.
    public var member: String
    /// The member's value as the format represents it; nil for an array or an object.
    public var value: GraphValue?
}
