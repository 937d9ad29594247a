import Foundation
import Testing

@testable import ManagedObjects

/// How often the version hashes of a model are computed: those of a second computation are in other memory.
@Suite struct VersionHashCostTests {
    private func model() -> NSManagedObjectModel {
        let note = NSEntityDescription()
        note.name = "Note"
        note.managedObjectClassName = "NSManagedObject"
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        note.properties = [title]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    /// The address of an entity's hash. It is that of the bytes, which are too many to be part of the value.
    private func address(in model: NSManagedObjectModel) -> Int? { address(model.entityVersionHashesByName["Note"]) }

    private func address(_ hash: Data?) -> Int? { hash?.withUnsafeBytes { Int(bitPattern: $0.baseAddress) } }

    @Test func `the hashes of a model are computed once`() throws {
        let model = model()
        let first = model.entityVersionHashesByName
        let address = address(in: model)
        #expect(address != nil)
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
        _ = model.versionChecksum
        #expect(self.address(in: model) == address)
        try #require(model.entitiesByName["Note"]).properties[0].isOptional = false
        #expect(model.entityVersionHashesByName != first)
        withExtendedLifetime(first) { #expect(self.address(in: model) != address) }
    }

    @Test func `an entity's hash is that of its model, until the model changes`() throws {
        let model = model()
        let note = try #require(model.entitiesByName["Note"])
        let first = note.versionHash
        #expect(address(note.versionHash) == address(first))
        #expect(address(in: model) == address(first))
        note.properties[0].isOptional = false
        #expect(note.versionHash != first)
        #expect(note.versionHash == model.entityVersionHashesByName["Note"])
    }

    @Test func `a coordinator does not compute the hashes of its model again`() {
        let model = model()
        let hashes = model.entityVersionHashesByName
        let address = address(in: model)
        let coordinators = (0..<2).map { _ in NSPersistentStoreCoordinator(managedObjectModel: model) }
        withExtendedLifetime((hashes, coordinators)) { #expect(self.address(in: model) == address) }
    }
}
