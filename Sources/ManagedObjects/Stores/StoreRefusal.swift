import Foundation
import ModelFiles

/// Why a store does not fit a model, in words for errors.
package enum StoreRefusal {
    /// The greatest numbers of entities, and of reasons of one, in a sentence.
    private static let limits = (entities: 3, reasons: 2)

    /// The entities whose version hashes differ, with the reasons if the store contains its model: `They differ in Note (title:
    /// optional is yes in the store, no in the model).` Empty if the store has no hashes, or none differs.
    ///
    /// Cost: the model in the store is read. An error while it is read is ignored, because another error is reported.
    package static func sentence(ofStoreAt url: URL?, metadata: [String: Any], model: NSManagedObjectModel) -> String {
        guard let stored = StoreModelHashes(metadata: metadata)?.hashes else { return "" }
        let own = url.flatMap { url in
            let type = metadata[NSStoreTypeKey] as? String ?? NSSQLiteStoreType
            return (try? StoreClasses.shared.storeClass(ofType: type, url: url)).flatMap {
                try? $0.storedModel(at: url)
            }
        }
        let parts: [String]
        if let own, own.entityVersionHashesByName == stored {
            let difference = HashDifference(from: own.modelValue(), to: model.modelValue())
            parts = difference.entities.map(text)
        } else {
            let given = model.entityVersionHashesByName
            parts = Set(stored.keys).union(given.keys).filter { stored[$0] != given[$0] }.sorted()
        }
        guard !parts.isEmpty else { return "" }
        let more = parts.count > limits.entities ? ", and \(parts.count - limits.entities) more" : ""
        return "They differ in \(parts.prefix(limits.entities).joined(separator: ", "))\(more)."
    }

    private static func text(_ entity: HashDifference.Entity) -> String {
        if entity.newName == nil { return "\(entity.name) (only in the store)" }
        if entity.oldName == nil { return "\(entity.name) (only in the model)" }
        let reasons = entity.reasons.prefix(limits.reasons).map { $0.text(old: "the store", new: "the model") }
        let more = entity.reasons.count > limits.reasons ? "; …" : ""
        return "\(entity.name) (\(reasons.joined(separator: "; "))\(more))"
    }
}
