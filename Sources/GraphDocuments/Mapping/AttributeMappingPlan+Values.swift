import Foundation

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
        case .dictionary(let members):
            if members.count <= 2, members.first?.name == ValueTag.archive.rawValue,
                case .value(.string(let text))? = members.first?.value, let archive = Data(base64Encoded: text),
                attribute.type == .transformable
            {
                return .transformable(TransformableValue(archive: archive))
            }
            return try tree.asTransformable(attribute)
        case .array: return try tree.asTransformable(attribute)
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
        case .transformable(let transformable):
            let plain = transformable.readable.flatMap { $0.showsObjects ? nil : $0 }
            tree = plain.map { style.tree($0) } ?? style.tree(value, declaredAs: attribute)
        default: tree = style.tree(value, declaredAs: attribute)
        }
        if let write = functions?.write, !value.isNull { tree = try write(tree) ?? style.null }
        return tree
    }
}

extension ReadableValue {
    fileprivate func asTransformable(_ attribute: GraphSchema.Attribute) throws -> GraphValue {
        guard attribute.type == .transformable else {
            let noun = if case .array = self { "An array" } else { "An object" }
            throw MappedValueError(
                "\(noun) was found for \(attribute.name), which is of type \(attribute.type.name).")
        }
        return .transformable(TransformableValue(archive: nil, readable: self))
    }
}
