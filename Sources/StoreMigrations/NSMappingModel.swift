import Foundation
import ManagedObjects

/// How the objects of one version of a model become objects of another version.
open class NSMappingModel: NSObject {
    private var mappings: [NSEntityMapping] = []

    /// Whether the model was inferred, so that a store may migrate itself without the manager.
    internal final var isInferred = false

    /// The mappings of entities, in the order in which they are processed. Nil removes all of them.
    open var entityMappings: [NSEntityMapping]! {
        get { mappings }
        set { mappings = newValue ?? [] }
    }

    /// ``entityMappings`` by name; of two with one name, the later one.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary(mappings.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }

    /// Creates a mapping model without mappings.
    public override init() {}

    /// Reads a compiled mapping model (`.cdm`); as an addition to Core Data also a source (`.xcmappingmodel`), with its two
    /// models in the project's folders or in the file itself. Nil if there is none, or it cannot be read; ``mappingModel(contentsOf:)``
    /// throws the reason.
    public convenience init?(contentsOf url: URL?) {
        guard let url, let read = try? MappingModelFiles.entityMappings(at: url) else { return nil }
        self.init()
        mappings = read
    }

    /// Reads a mapping model as ``init(contentsOf:)`` does: an addition to Core Data's API, which throws the
    /// reason of a failure.
    ///
    /// - Throws: `CocoaError.fileReadCorruptFile` or `.fileReadNoSuchFile`, with the reason in its description.
    public static func mappingModel(contentsOf url: URL) throws -> NSMappingModel {
        let model = NSMappingModel()
        model.mappings = try MappingModelFiles.entityMappings(at: url)
        return model
    }

    /// Infers the mapping model of two models by the rules of lightweight migration. No store is
    /// read. Cost: the version hashes of both models, and a step for each property of each entity.
    ///
    /// - Throws: Code 134190 if it cannot be inferred, with `reason`, `entity` and `property` of the first obstacle in
    ///   the user info, and an error for each obstacle under `NSDetailedErrorsKey` if there are several.
    open class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        try inferredMappingModel(from: sourceModel, to: destinationModel, configuration: nil)
    }

    /// Finds the mapping model of two models among the compiled mapping models of bundles: the one whose version hashes are
    /// equal to those of the models' entities. Nil if there is none.
    ///
    /// Searched are the `.cdm` files at a bundle's top level, in the order of their paths, and in the resource bundles that
    /// the package manager creates beside a program. With nil, the main bundle is searched.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel,
            let found = MappingModelFiles.entityMappings(
                in: bundles, from: sourceModel.entityVersionHashesByName, to: destinationModel.entityVersionHashesByName
            )
        else { return nil }
        self.init()
        mappings = found
    }

    /// Two mapping models are equal if their mappings are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSMappingModel else { return false }
        return mappings == other.mappings
    }

    open override var hash: Int { mappings.count }

    /// The names of the mappings, for messages.
    open override var description: String { "NSMappingModel \(mappings.map { $0.name ?? "" })" }
}
