import Foundation
import ModelFiles
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores

/// Models that are found in bundles.
@Suite struct ModelBundleTests {
    private final class OfThisProgram {}

    private func model(entity: String) -> Model {
        var model = Model()
        model.entities = [ModelEntity(name: entity)]
        return model
    }

    private func names(_ model: NSManagedObjectModel?) -> [String]? { model?.entities.compactMap(\.name).sorted() }

    @Test("A source is used where the bundle does not have the model in compiled form")
    func sources() throws {
        let folder = try StoreFolder(name: "Models.bundle")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let bundle = try #require(Bundle(path: folder.url.path))
        func place(_ name: String) -> URL { folder.url.appendingPathComponent(name) }
        let version = ModelFile.Version(name: "Source", model: model(entity: "Source"))
        _ = try ModelFile(kind: .sourceBundle, versions: [version]).writeSourceBundle(to: place("Notes.xcdatamodeld"))
        #expect(names(NSManagedObjectModel.mergedModel(from: [bundle])) == ["Source"])
        _ = try ModelFile.writeSourceModel(model(entity: "Other"), to: place("Other.xcdatamodel"))
        #expect(names(NSManagedObjectModel.mergedModel(from: [bundle])) == ["Other", "Source"])
        _ = try ModelFile.writeCompiledModel(model(entity: "Compiled"), to: place("Notes.mom"))
        #expect(names(NSManagedObjectModel.mergedModel(from: [bundle])) == ["Compiled", "Other"])
    }

    /// AERecord's tests load their model from the bundle of their class: https://github.com/tadija/AERecord
    @Test("The bundle of a class has the resources of the program's modules")
    func bundleOfAClass() throws {
        let folder = Bundle.main.bundleURL.appendingPathComponent("Coral_\(UUID().uuidString).resources")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("BundleOfAClass.mom")
        _ = try ModelFile.writeCompiledModel(model(entity: "OfAModule"), to: url)
        let bundle = Bundle(for: OfThisProgram.self)
        #expect(names(NSManagedObjectModel.mergedModel(from: [bundle]))?.contains("OfAModule") == true)
        #expect(ModelResources.url(ofModelNamed: "BundleOfAClass")?.lastPathComponent == "BundleOfAClass.mom")
    }

    /// WooCommerce has 117 versions of its model in one folder, and its tests look for a mapping model in the bundle of a class of the
    /// module under test.
    @Test("Of a folder of versions only the one is read with which a store was written")
    func oneVersion() throws {
        let folder = try StoreFolder(name: "Versions.bundle")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let bundle = try #require(Bundle(path: folder.url.path))
        let url = folder.url.appendingPathComponent("Notes.momd")
        let versions = ["One", "Two", "Three"].map { ModelFile.Version(name: $0, model: model(entity: "Entity" + $0)) }
        try ModelFile(kind: .compiledBundle, versions: versions).writeCompiledBundle(to: url)
        func found(_ index: Int) -> [String]? {
            let hashes = VersionHash(versions[index].model).entityHashes
            return names(
                NSManagedObjectModel.mergedModel(
                    from: [bundle], forStoreMetadata: [NSStoreModelVersionHashesKey: hashes]))
        }
        #expect(found(1) == ["EntityTwo"])
        // Where another version cannot be read, the bundle as a whole cannot.
        try Data("damaged".utf8).write(to: url.appendingPathComponent("Three.mom"))
        #expect(found(1) == ["EntityTwo"])
        #expect(found(2) == nil)
        // What is stated is compared with the model.
        try FileManager.default.removeItem(at: url.appendingPathComponent("One.mom"))
        try FileManager.default.copyItem(
            at: url.appendingPathComponent("Two.mom"), to: url.appendingPathComponent("One.mom"))
        #expect(found(0) == nil)
    }

    /// WooCommerce's migration reads all 117 versions of its model for each store, to find that of the store.
    @Test("A compiled file is read again only if it has changed")
    func unchangedFiles() async throws {
        let folder = try StoreFolder(name: "Models")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let url = folder.url.appendingPathComponent("Notes.mom")
        var readCount = 0
        func read() throws -> [String] {
            try ModelFileCache.currentModel(at: url) {
                readCount += 1
                return try ModelFile.readCurrentModel(at: $0)
            }.entities.map(\.name)
        }
        // What has just been written is read each time.
        try ModelFile.writeCompiledModel(model(entity: "One"), to: url)
        #expect(try read() == ["One"] && read() == ["One"] && readCount == 2)
        try ModelFile.writeCompiledModel(model(entity: "Two"), to: url)
        #expect(try read() == ["Two"] && readCount == 3)
        try await Task.sleep(for: .milliseconds(2100))
        #expect(try read() == ["Two"] && read() == ["Two"] && readCount == 4)
        // A model that was made of the value can be changed.
        let first = try NSManagedObjectModel.model(contentsOf: url)
        let second = try NSManagedObjectModel.model(contentsOf: url)
        #expect(first !== second && first == second)
        second.entities = []
        #expect(names(first) == ["Two"])
        // Written over in place with as many bytes, and given its former time, as a copy or a build does.
        let time = try #require(FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate])
        let bytes = try Data(contentsOf: url)
        let file = try FileHandle(forWritingTo: url)
        try file.write(contentsOf: Data(repeating: 0, count: bytes.count))
        try file.close()
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: url.path)
        #expect(NSManagedObjectModel(contentsOf: url) == nil)
        #expect(throws: ModelError.self) { try read() }
        #expect(readCount == 5)
    }

    @Test("The bundle of another module's resources")
    func bundleOfAModule() throws {
        let module = try #require(String(reflecting: OfThisProgram.self).split(separator: ".").first)
        #expect(Bundle.resources(ofModuleOf: NSManagedObject.self) == Bundle(for: NSManagedObject.self))
        let folder = Bundle.main.bundleURL.appendingPathComponent("Coral \(UUID().uuidString)_\(module).resources")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let bundle = Bundle.resources(ofModuleOf: OfThisProgram.self)
        #expect(bundle.bundleURL.standardizedFileURL.path == folder.standardizedFileURL.path)
    }
}
