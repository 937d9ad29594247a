import Foundation
import KeyedArchives

/// A value that a mapping cannot read.
struct MappedValueError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension AttributeMappingPlan {
    /// The attribute's value for a value in the document. Throws `MappedValueError` and the errors of the transformer.
    func value(of tree: ReadableValue) throws -> GraphValue {
        var tree = tree
        if let read = functions?.read, tree != .value(.null) {
            if let made = try read(tree) {
                tree = made
            } else if case .value(let value) = tree, value.fits(attribute.type) {
                // A value of the right type needs no transformer, and many transformers do not accept it.
                return value
            } else {
                return .null
            }
        }
        switch tree {
        case .value(let value):
            if value.isNull { return .null }
            if let dates, let date = dates.read(value) { return date }
            return value.read(as: attribute.type)
        case .dictionary(let members) where attribute.type == .composite:
            return .composite(try composite(members, attribute.elements, level: 0))
        case .dictionary, .array: return try tree.asTransformable(attribute)
        }
    }

    /// Recursive: composites may contain composites, as deep as the model declares them.
    private func composite(
        _ members: [ReadableValue.Member], _ elements: [GraphSchema.Attribute], level: Int
    ) throws -> [GraphAttribute] {
        try elements.compactMap { element in
            guard let member = members.first(where: { $0.name == element.name }) else { return nil }
            switch member.value {
            case .value(let value): return GraphAttribute(name: element.name, value: value.read(as: element.type))
            case .dictionary(let inner) where element.type == .composite && level < 64:
                return GraphAttribute(
                    name: element.name, value: .composite(try composite(inner, element.elements, level: level + 1)))
            default: return GraphAttribute(name: element.name, value: try member.value.asTransformable(element))
            }
        }
    }

    /// The document's value for a value of the attribute; nil if nothing is written.
    func tree(of value: GraphValue, style: TreeStyle, decimals: PlainLayout.DecimalForm) throws -> ReadableValue {
        var tree: ReadableValue
        switch value {
        case .date(let seconds) where dates != nil: tree = .value(dates?.write(seconds) ?? .null)
        case .decimal where decimals == .number && style.style != .propertyList: tree = .value(value)
        case .null: tree = style.null
        case .transformable(let transformable): tree = try self.tree(of: transformable, style: style)
        default: tree = style.tree(value, declaredAs: attribute)
        }
        if let write = functions?.write, !value.isNull { tree = try write(tree) ?? style.null }
        return tree
    }

    /// The content of an archive, if a reader makes the same value from that content, otherwise the archive.
    ///
    /// A function of the mapping gets the content in any case: its result is another value.
    private func tree(of value: TransformableValue, style: TreeStyle) throws -> ReadableValue {
        if functions?.write != nil, let readable = value.readable, !readable.showsObjects {
            return style.tree(readable, escapesKeys: false)
        }
        guard let archive = value.archive else {
            guard let readable = value.readable, readable.isPlain else {
                throw DocumentError(
                    .notRepresentable,
                    "A value of \(attribute.name) has no archive, and a mapped document has no dates or bytes.")
            }
            return readable
        }
        return ReadableValue(plainArchive: archive) ?? style.tree(.transformable(value), declaredAs: attribute)
    }
}

extension ReadableValue {
    fileprivate func asTransformable(_ attribute: GraphSchema.Attribute) throws -> GraphValue {
        guard attribute.type == .transformable else {
            let noun = if case .array = self { "An array" } else { "An object" }
            throw MappedValueError(
                "\(noun) was found for \(attribute.name), which is of type \(attribute.type.name).")
        }
        if let archive { return .transformable(TransformableValue(archive: archive)) }
        return .transformable(TransformableValue(archive: nil, readable: self))
    }

    /// The archive of a value that is written as one, with or without its readable form.
    private var archive: Data? {
        guard case .dictionary(let members) = self,
            members.allSatisfy({ [ValueTag.archive.rawValue, ValueTag.readable.rawValue].contains($0.name) }),
            case .value(let value)? = member(ValueTag.archive.rawValue)
        else { return nil }
        switch value {
        case .data(let data): return data
        case .string(let text): return Data(base64Encoded: text)
        default: return nil
        }
    }

    /// The content of an archive that contains only numbers, strings, arrays, and dictionaries with strings as keys. Nil for any other:
    /// a foreign document has no type for a date, a set would become an array, and an attributed string a string.
    fileprivate init?(plainArchive data: Data) {
        let classes: Set = [
            "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSString", "NSMutableString",
        ]
        guard let archive = try? KeyedArchive(data: data),
            archive.objects.allSatisfy({ $0["$classname"]?.string.map(classes.contains) ?? true }),
            let root = try? KeyedArchives.ReadableValue(try archive.root)
        else { return nil }
        self.init(plain: root)
        guard isPlain else { return nil }
    }

    /// Recursive; the archive's reader limits the depth.
    private init?(plain value: KeyedArchives.ReadableValue) {
        func trees(_ values: [KeyedArchives.ReadableValue]) -> [Self]? {
            let trees = values.compactMap { Self(plain: $0) }
            return trees.count == values.count ? trees : nil
        }
        switch value {
        case .boolean(let value): self = .value(.bool(value))
        case .integer(let value): self = .value(.integer(value))
        case .real(let value): self = .value(.double(value))
        case .string(let value): self = .value(.string(value))
        case .array(let values):
            guard let trees = trees(values) else { return nil }
            self = .array(trees)
        case .dictionary(let pairs):
            let names = pairs.compactMap { pair in if case .string(let name) = pair.key { name } else { nil } }
            guard names.count == pairs.count, let trees = trees(pairs.map(\.value)) else { return nil }
            self = .dictionary(zip(names, trees).map { Member(name: $0, value: $1) }.sorted { $0.name < $1.name })
        default: return nil
        }
    }

    /// Whether every format has types for all values of the tree, and no key is a tag of this library. Recursive; readers have limited
    /// the depth of trees.
    fileprivate var isPlain: Bool {
        switch self {
        case .value(.bool), .value(.integer), .value(.string): true
        // A zero with a sign is an integer in some formats.
        case .value(.double(let number)): number.isFinite && !(number == 0 && number.sign == .minus)
        case .value: false
        case .array(let values): values.allSatisfy(\.isPlain)
        case .dictionary(let members):
            members.allSatisfy { ValueTag(rawValue: $0.name) == nil && $0.value.isPlain }
        }
    }
}
