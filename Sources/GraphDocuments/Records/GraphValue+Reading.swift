import Foundation
import KeyedArchives

extension GraphValue {
    /// The value converted to the declared type, for formats with fewer types than models: a date in a string, an
    /// integral double as an integer. Unchanged if the conversion is not exact.
    func read(as type: GraphValueType) -> GraphValue {
        if self.fits(type) { return self }
        switch (self, type) {
        case (.string(let text), _):
            var text = text
            return text.withUTF8 { TextValue.value(UnsafeRawBufferPointer($0), as: type) } ?? self
        case (.integer(let number), .double): return Double(exactly: number).map { .double($0) } ?? self
        case (.integer(let number), .float): return Float(exactly: number).map { .float($0) } ?? self
        case (.integer(let number), .decimal): return .decimal(Decimal(number))
        case (.integer(let number), .boolean): return number == 0 || number == 1 ? .bool(number == 1) : self
        case (.bool(let flag), .integer16), (.bool(let flag), .integer32), (.bool(let flag), .integer64):
            // Some serialisers convert between Foundation's boolean and integer objects.
            return .integer(flag ? 1 : 0)
        case (.double(let number), .float):
            // A number too large for a float would become infinite.
            let float = Float(number)
            return float.isFinite || !number.isFinite ? .float(float) : self
        case (.float(let number), .double): return .double(Double(number))
        case (.double(let number), .decimal): return TextValue.anyValue(number.description, as: .decimal) ?? self
        case (.double(let number), .integer16), (.double(let number), .integer32), (.double(let number), .integer64):
            return Int64(exactly: number).map { .integer($0) } ?? self
        case (.decimal(let number), _): return TextValue.anyValue(DecimalText.text(number), as: type) ?? self
        default: return self
        }
    }
}

extension GraphValue {
    /// The text of the value in keys and in text-only formats; nil for null and for values that are not a single text.
    package var documentText: String? { TextValue.text(of: self) }

    /// Creates the value of a type from a text in any of its usual notations; nil if it is invalid.
    package init?(text: String, as type: GraphValueType) {
        guard let value = TextValue.anyValue(text, as: type) else { return nil }
        self = value
    }
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
