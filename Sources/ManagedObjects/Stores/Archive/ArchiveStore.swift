/// A store in one keyed archive: ``NSPersistentStore/StoreType/archive``.
final class ArchiveStore: FileStore, @unchecked Sendable {  // because its state is used while the store is locked
    override class var format: any StoreFileFormat.Type { ArchiveStoreFormat.self }
}
