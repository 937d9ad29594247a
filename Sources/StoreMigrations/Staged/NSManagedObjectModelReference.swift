import CoreDataErrors
import Foundation
import ManagedObjects

/// A version of a model, which is read when it is needed.
open class NSManagedObjectModelReference: NSObject {
    private enum Source {
        case model(NSManagedObjectModel)
        case file(URL)
        case name(String, Bundle?)
        case hashes([String: Data], Bundle?)
    }

    private let source: Source
    private var resolved: NSManagedObjectModel?

    /// The checksum that the model must have; see ``NSManagedObjectModel/versionChecksum``.
    public let versionChecksum: String

    private init(_ source: Source, _ versionChecksum: String) {
        self.source = source
        self.versionChecksum = versionChecksum
    }

    /// A reference to a model.
    public convenience init(model: NSManagedObjectModel, versionChecksum: String) {
        self.init(.model(model), versionChecksum)
    }

    /// A reference to a file: a model, or a folder of versions, of which the one with the checksum is used.
    public convenience init(fileURL: URL, versionChecksum: String) { self.init(.file(fileURL), versionChecksum) }

    /// A reference to a model of a bundle by its name, without extension; nil is the main bundle.
    public convenience init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        self.init(.name(modelName, bundle), versionChecksum)
    }

    /// A reference to a model of a bundle by the version hashes of its entities; nil is the main bundle.
    public convenience init(
        entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String
    ) {
        self.init(.hashes(versionHash as? [String: Data] ?? [:], bundle), versionChecksum)
    }

    /// The model. A reference that cannot be resolved is a programmer error; a staged migration throws code 134504 for it.
    open var resolvedModel: NSManagedObjectModel {
        do {
            return try resolve()
        } catch {
            preconditionFailure(error.localizedDescription)
        }
    }

    /// The model.
    ///
    /// - Throws: Code 134504 if there is none with the checksum.
    final func resolve() throws -> NSManagedObjectModel {
        if let resolved { return resolved }
        guard let found = candidates().first(where: { $0.versionChecksum == versionChecksum }) else {
            throw CocoaError(
                CocoaError.Code(rawValue: NSManagedObjectModelReferenceNotFoundError),
                "A model reference cannot be resolved: there is no model with the checksum \(versionChecksum).")
        }
        resolved = found
        return found
    }

    private func candidates() -> [NSManagedObjectModel] {
        switch source {
        case .model(let model): [model]
        case .file(let url): ModelBundles.versions(at: url)
        case .name(let name, let bundle):
            ModelBundles.urls(in: [bundle ?? .main], extensions: ["momd", "mom"])
                .filter { $0.deletingPathExtension().lastPathComponent == name }.flatMap {
                    ModelBundles.versions(at: $0)
                }
        case .hashes(let hashes, let bundle):
            ModelBundles.models(in: [bundle ?? .main], everyVersion: true)
                .filter { $0.entityVersionHashesByName == hashes }
        }
    }
}
