import Foundation
import KeyedArchives

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
