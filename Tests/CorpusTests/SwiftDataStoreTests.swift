import Foundation
import ModelCodeGeneration
import ModelFiles
import Testing

@testable import ManagedObjects
@testable import SQLStores

/// Stores that Apple's SwiftData wrote.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: Corpus.root.path), "The corpus is absent."))
struct SwiftDataStoreTests {
    @Test("Generated classes have the version hashes of the store", arguments: Corpus.swiftDataStores)
    func classes(_ store: URL) throws {
        let copy = try StoreCopy(store)
        let inspection = try StoreInspection(url: copy.url)
        let model = try #require(inspection.cachedModelValue)
        let classes = try SwiftDataClasses(of: model, named: store.lastPathComponent)
        #expect(classes.changedEntities.isEmpty)
        #expect(classes.losses.isEmpty, "\(classes.losses)")
        #expect(classes.files.count == model.entities.count + 1)
        // The reference: the hashes that the store itself states.
        let stated = inspection.metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        #expect(VersionHash(model).entityHashes == stated)
    }
}

extension SwiftDataStoreTests {
    @Test("Sources that were generated from a store are read as its model", arguments: Corpus.swiftDataStores)
    func roundTrip(_ store: URL) throws {
        let copy = try StoreCopy(store)
        let inspection = try StoreInspection(url: copy.url)
        let model = try #require(inspection.cachedModelValue)
        let stated = inspection.metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        let classes = try SwiftDataClasses(of: model, named: store.lastPathComponent)
        let frozen = try VersionedSchemaSource(of: model, named: "Frozen", origin: store.lastPathComponent)
        for sources in [classes.files.map { ($0.name, $0.text) }, [("Frozen.swift", frozen.text)]] {
            let read = try SwiftDataSources(sources).current.model
            #expect(VersionHash(read).entityHashes == stated)
            #expect(VersionHash(read).checksum == VersionHash(model).checksum)
        }
    }
}

extension Corpus {
    /// The stores of SwiftData.
    static let swiftDataStores: [URL] = files(named: "default.store") + files(named: "PreloadedCocktails.store")
}
