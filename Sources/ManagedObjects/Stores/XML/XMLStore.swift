/// A store in one XML file, in Core Data's format on the Mac: `NSXMLStoreType`.
final class XMLStore: FileStore, @unchecked Sendable {  // because its state is used while the store is locked
    override class var format: any StoreFileFormat.Type { XMLStoreFormat.self }
}
