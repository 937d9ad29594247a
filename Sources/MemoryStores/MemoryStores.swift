import Foundation
import ManagedObjects

// The stores whose rows are all in memory. Reading begins here.
//
// `Memory`: the store in memory (`MemoryStore`). Its content is an immutable value (`MemoryContent`), which each save replaces, so that a
// reader needs no lock and a generation is a reference.
// `Atomic`: `NSAtomicStore`, the superclass of stores that read and write a whole file. It keeps a cache node for each object.
// `Files`: what the engine's own stores in one file share; `XML` and `Archive` are their formats, independent of objects.
//
// Predicates, sort descriptors and groups are evaluated by the engine (`ManagedObjects/Stores/RowEvaluation`).

/// The stores of this module, which the engine finds by the name of this class.
package final class MemoryStoreDirectory: StoreDirectory {
    package init() {}

    package var classes: [String: NSPersistentStore.Type] {
        [
            NSInMemoryStoreType: MemoryStore.self, NSXMLStoreType: XMLStore.self,
            NSPersistentStore.StoreType.archive.rawValue: ArchiveStore.self,
        ]
    }
}
