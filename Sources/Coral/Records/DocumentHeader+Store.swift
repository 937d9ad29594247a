import CoreData
import GraphDocuments
import ModelFiles

extension DocumentHeader {
    /// The header of a document of a model's objects.
    ///
    /// - Parameter store: The store of the ids. Metadata set by a program is part of the header of a whole store;
    ///   metadata set by the framework is omitted, because it follows from the model.
    package init(
        layout: DocumentLayout, idScheme: IDScheme, model: NSManagedObjectModel, store: NSPersistentStore?,
        isWholeStore: Bool
    ) {
        self.init(
            layout: layout, idScheme: idScheme, storeUUID: store?.identifier,
            modelVersionIdentifiers: model.versionIdentifiers.map { "\($0)" }.filter { !$0.isEmpty }.sorted(),
            entityVersionHashes: model.entityVersionHashesByName)
        guard isWholeStore, let content = store?.metadata else { return }
        let kept = content.filter { StoreMetadataKeys.isOfProgram($0.key) }
        metadata = kept.sorted { $0.key < $1.key }.map {
            ReadableValue.Member(name: $0.key, value: ReadableValue(propertyList: $0.value))
        }
    }
}
