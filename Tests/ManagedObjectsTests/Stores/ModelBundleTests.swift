import Foundation
import ModelFiles
import Testing

@testable import ManagedObjects

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
}
