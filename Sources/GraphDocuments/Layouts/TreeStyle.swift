import Foundation

/// The representation of values in a tree of dictionaries and arrays.
public enum DictionaryStyle: Sendable, Hashable, CaseIterable {
    /// Foundation's own types: `Date`, `Data`, `UUID`, `URL`, `Decimal`, `NSNull`.
    case native
    /// The types of `JSONSerialization`: the same strings and numbers as in JSON documents.
    case json
    /// The types of `PropertyListSerialization`: `Date` and `Data`, and `["$nil": true]` for null.
    case propertyList
}

/// A style with the restrictions of a file format.
struct TreeStyle {
    let style: DictionaryStyle
    /// Whether dates have whole seconds only, as in XML property lists. Other dates are written as text.
    var hasWholeSecondsOnly = false

    /// An attribute's value as a tree with the style's types only.
    func tree(_ value: GraphValue, declaredAs attribute: GraphSchema.Attribute?) -> ReadableValue {
        switch value {
        case .null: return null
        case .transformable(let value):
            var members: [ReadableValue.Member] = []
            if let archive = value.archive { members.append(member(.archive, leaf(.data(archive)))) }
            if let readable = value.readable { members.append(member(.readable, tree(readable))) }
            return .dictionary(members)
        case .file(let file):
            var members = [member(value.tag, .value(.string(file.path)))]
            if let byteCount = file.byteCount { members.append(member(.size, .value(.integer(byteCount)))) }
            return .dictionary(members)
        default: break
        }
        let type = attribute?.type ?? .undefined
        if value.fits(type) || (type == .undefined && representsType(of: value)) {
            return plain(value, elements: attribute?.elements ?? [])
        }
        return .dictionary([member(value.tag, plain(value, elements: []))])
    }

    /// A tree of plain values in the style.
    func tree(_ tree: ReadableValue, escapesKeys: Bool = true) -> ReadableValue {
        switch tree {
        case .value(let value): self.tree(value, declaredAs: nil)
        case .array(let values): .array(values.map { self.tree($0, escapesKeys: escapesKeys) })
        case .dictionary(let members):
            .dictionary(
                members.map {
                    .init(
                        name: escapesKeys ? TreeDocument.escapedKey($0.name) : $0.name,
                        value: self.tree($0.value, escapesKeys: escapesKeys))
                })
        }
    }

    /// A tree in the style whose values are not tagged with their types: dates in JSON are text.
    func bare(_ tree: ReadableValue) -> ReadableValue {
        switch tree {
        case .value(.null): null
        // Converted by its shortest text, which is the intended number.
        case .value(.float(let number)) where style != .native: .value(.double(Double(number.description) ?? .nan))
        case .value(let value): leaf(value)
        case .array(let values): .array(values.map { bare($0) })
        case .dictionary(let members): .dictionary(members.map { .init(name: $0.name, value: bare($0.value)) })
        }
    }

    /// The null of the style.
    var null: ReadableValue {
        style == .propertyList ? .dictionary([member(.null, .value(.bool(true)))]) : .value(.null)
    }

    private func member(_ tag: ValueTag, _ value: ReadableValue) -> ReadableValue.Member {
        .init(name: tag.rawValue, value: value)
    }

    private func plain(_ value: GraphValue, elements: [GraphSchema.Attribute]) -> ReadableValue {
        guard case .composite(let members) = value else { return leaf(value) }
        return .dictionary(
            members.map { member in
                let element = elements.first { $0.name == member.name }
                return .init(name: member.name, value: tree(member.value, declaredAs: element))
            })
    }

    private func leaf(_ value: GraphValue) -> ReadableValue {
        switch (value, style) {
        case (.uri(let text), .native):
            // A URL whose text would change is kept as text.
            return .value(URL(string: text)?.absoluteString == text ? value : .string(text))
        case (_, .native), (.bool, _), (.integer, _), (.string, _):
            return .value(value)
        // Foundation's serialiser writes -0.0 as an integer.
        case (.double(-0.0), .json) where value == .double(-0.0), (.float(-0.0), .json) where value == .float(-0.0):
            return .value(.string("-0.0"))
        case (.double(let number), _):
            return .value(number.isFinite ? value : .string("\(FloatingText.word(for: number))"))
        case (.float(let number), _):
            return .value(
                number.isFinite ? .double(Double(number)) : .string("\(FloatingText.word(for: Double(number)))"))
        case (.data, .propertyList):
            return .value(value)
        case (.date(let seconds), .propertyList) where holds(date: seconds):
            return .value(value)
        default:
            return .value(TextValue.text(of: value).map { .string($0) } ?? .null)
        }
    }

    /// Whether a date can be represented as a property list's date.
    private func holds(date seconds: Double) -> Bool {
        guard seconds.isFinite else { return false }
        return !hasWholeSecondsOnly || DateText.text(seconds).hasSuffix(".000Z")
    }

    /// Whether the style's types represent the value's type.
    private func representsType(of value: GraphValue) -> Bool {
        switch value {
        case .null, .bool, .integer, .string: true
        case .double(let number): (number.isFinite && (style != .json || value != .double(-0.0))) || style == .native
        case .data: style != .json
        case .date(let seconds): style == .native || (style == .propertyList && holds(date: seconds))
        case .uri(let text): style == .native && URL(string: text)?.absoluteString == text
        case .float, .decimal, .uuid: style == .native
        case .composite, .transformable, .file: false
        }
    }
}
