import CoreData
import GraphDocuments
import KeyedArchives

/// Converts a transformable attribute's value to the archive that a store would contain, and decodes the archive
/// without instantiating any class that it names.
struct TransformableReader {
    private let transformer: AttributeTransformer

    init(_ attribute: NSAttributeDescription) { transformer = AttributeTransformer(attribute) }

    /// The value as an archive, with the archive's readable form.
    ///
    /// Throws `ExportError` if the transformer is not registered or does not return data.
    func value(_ value: Any?) throws -> GraphValue {
        guard let value, !(value is NSNull) else { return .null }
        do {
            let archive = try transformer.archive(of: value)
            return .transformable(TransformableValue(archive: archive, readable: TransformableReader.readable(archive)))
        } catch let error as TransformableError {
            throw ExportError(.missingTransformer, error.message)
        }
    }

    /// The content of an archive as a tree: objects of other classes are dictionaries with their class names. Nil for
    /// bytes that are not an archive, and for archives with cycles.
    static func readable(_ archive: Data) -> GraphDocuments.ReadableValue? {
        GraphDocuments.ReadableValue(archive: archive)
    }

    /// Whether an archive contains plain values only: no objects of other classes, no cycles, strings as keys.
    static func isPlain(_ archive: Data) -> Bool { readable(archive)?.showsObjects == false }
}

extension GraphDocuments.ReadableValue {
    /// The content of an archive; nil for bytes that are not an archive, and for archives with cycles.
    package init?(archive: Data) {
        guard let tree = try? KeyedArchives.ReadableValue(archive: archive) else { return nil }
        self.init(tree)
    }

    /// Nil for a cycle. Recursive; the archive's reader limits the depth.
    fileprivate init?(_ value: KeyedArchives.ReadableValue) {
        switch value {
        case .null: self = .value(.null)
        case .boolean(let value): self = .value(.bool(value))
        case .integer(let value): self = .value(.integer(value))
        case .unsignedInteger(let value):
            guard let integer = Int64(exactly: value) else { return nil }
            self = .value(.integer(integer))
        case .real(let value): self = .value(.double(value))
        case .decimal(let value): self = .value(.decimal(value))
        case .string(let value): self = .value(.string(value))
        case .data(let value): self = .value(.data(value))
        case .date(let value): self = .value(.date(value.timeIntervalSinceReferenceDate))
        case .uuid(let value): self = .value(.uuid(value))
        case .url(let value): self = .value(.uri(value))
        case .array(let values), .set(let values), .orderedSet(let values):
            guard let trees = Self.trees(values) else { return nil }
            self = .array(trees)
        case .dictionary(let pairs):
            guard let keys = Self.trees(pairs.map(\.key)), let values = Self.trees(pairs.map(\.value)) else {
                return nil
            }
            let names = pairs.compactMap { pair in if case .string(let name) = pair.key { name } else { nil } }
            guard names.count == pairs.count else {
                self = .object(
                    "NSDictionary", [Member(name: "pairs", value: .array(zip(keys, values).map { .array([$0, $1]) }))])
                return
            }
            self = .dictionary(
                zip(names, values).map { Member(name: $0, value: $1) }.sorted { $0.name < $1.name })
        case .object(let classChain, let fields):
            guard let values = Self.trees(fields.map(\.value)) else { return nil }
            self = .object(classChain.first ?? "", zip(fields, values).map { Member(name: $0.name, value: $1) })
        case .ancestor: return nil
        }
    }

    private static func trees(_ values: [KeyedArchives.ReadableValue]) -> [Self]? {
        let trees = values.compactMap(Self.init)
        return trees.count == values.count ? trees : nil
    }

    /// The tree of an object of a class.
    private static func object(_ name: String, _ members: [Member]) -> Self {
        .dictionary(
            [Member(name: classKey, value: .value(.string(name)))] + members.sorted { $0.name < $1.name })
    }
}
