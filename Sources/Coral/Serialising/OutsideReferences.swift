import CoreData
import GraphDocuments

/// The references of a document to objects outside the document.
///
/// In the nested layout an object can become a member of the document after the first reference to it. Such a reference
/// contains a natural key, like a reference to an object outside the document; an import ignores this key.
package final class OutsideReferences {
    /// The natural keys of objects.
    package let keys: KeyNames
    private var members: Set<NSManagedObjectID> = []
    private var candidates: [Reference] = []

    /// A reference to an object without a natural key.
    package struct Reference {
        package var owner: NSManagedObjectID
        package var relationship: String
        package var target: NSManagedObjectID
    }

    package init(_ keys: KeyNames) { self.keys = keys }

    /// Adds objects of the document.
    package func addMembers(_ ids: some Sequence<NSManagedObjectID>) { members.formUnion(ids) }

    /// Whether an object is known to be part of the document.
    package func isMember(_ id: NSManagedObjectID) -> Bool { members.contains(id) }

    /// Loads the keys of the objects outside that some objects refer to, and finds those without a key. Cost: a fetch
    /// for each entity, for objects that are not loaded yet.
    package func note(
        in drafts: [ObjectRecorder.Draft], missing: Set<NSManagedObjectID>, loader: ObjectLoader
    ) throws {
        var outside: [(draft: ObjectRecorder.Draft, relationship: String, target: NSManagedObjectID)] = []
        for draft in drafts {
            for (relationship, targets) in zip(draft.entity.relationships, draft.targets)
            where !relationship.isEmbedded {
                for target in targets where !isMember(target) && !missing.contains(target) {
                    outside.append((draft, relationship.name, target))
                }
            }
        }
        guard !outside.isEmpty else { return }
        try keys.prepare(outside.lazy.map(\.target), with: loader)
        for (draft, relationship, target) in outside where keys.name(of: target) == nil {
            candidates.append(Reference(owner: draft.id, relationship: relationship, target: target))
        }
    }

    /// The references to objects outside the document that have no natural key, in the order of writing.
    package var keyless: [Reference] { candidates.filter { !isMember($0.target) } }
}
