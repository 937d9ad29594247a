import Coral
import Foundation

// Stores that are restored from a document or copied.

extension ImportCommand {
    func restoreStore(from document: ImportSource) throws {
        let (store, isNew) = try destination()
        let model = try storeModel(store, isNew: isNew)
        var restorer = StoreRestorer(model: model)
        restorer.folder = file.folder
        restorer.missingFiles = missing.missingFiles
        restorer.joinTablesLike = try likeness.url()
        let restore = {
            try Work.run("Restoring", noun: nil) { try restorer.restore(document, to: store, progress: $0) }
        }
        if isNew {
            try StandardOutput.requireOpen()
            return try report(try restore(), .objects(because: Self.restoringReason))
        }
        try report(
            try backup.protecting(OpenStore(url: store, model: model, modelPath: source.model), restore),
            .objects(because: Self.restoringReason))
    }

    /// Copies the rows of a store to a new one, with its UUID, metadata and primary keys. Between files, the files are copied.
    func copyStore() throws {
        let (target, isNew) = try destination()
        guard likeness.like == nil else { throw CommandError("--like cannot be combined with a store to copy.") }
        guard isNew else {
            throw CommandError("A store is copied to a new one: there is a store at \(target.storeName) already.")
        }
        guard let url = file.url else { return }
        let model = try source.model(for: url.withoutLinks)
        try StandardOutput.requireOpen()
        let count = try Work.run("Copying", noun: nil) { progress in
            try StoreCreation.makeStore(at: target, model: model) { draft in
                // The copy keeps this model as its own, and not the one that keeps archives as they are.
                try StoreCreation.createStore(at: draft, model: model)
                let open = try OpenStore(url: url, model: model, holdsState: false, modelPath: source.model)
                let copy = try open.coordinator.migratePersistentStore(
                    open.store, to: draft, options: nil, withType: draft.storeType)
                let count = try EntityCounts(open).counts.reduce(0) { $0 + $1.count }
                try open.coordinator.remove(copy)
                if progress.isCancelled { throw CocoaError(.userCancelled) }
                return count
            }
        }
        if json { return try JSONOutput.report(["copied": count]) }
        try StandardOutput.report("\(Quantity.count(count, "object")) copied\n")
    }
}
