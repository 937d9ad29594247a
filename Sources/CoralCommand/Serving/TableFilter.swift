import Coral
import CoralTools

/// A condition that is chosen instead of written: an attribute, an operator and a value.
struct TableFilter {
    /// The condition in the predicate language.
    let predicate: String

    private enum Operator: String, CaseIterable {
        case equal, different, less, greater, contains, begins, empty, filled

        var title: String {
            switch self {
            case .equal: "is"
            case .different: "is not"
            case .less: "is less than"
            case .greater: "is greater than"
            case .contains: "contains"
            case .begins: "begins with"
            case .empty: "has no value"
            case .filled: "has a value"
            }
        }
    }

    /// The filter of a request; nil if none is chosen. Throws `CommandError` for an attribute or a value that cannot be compared so.
    init?(_ request: SiteRequest, of entity: NSEntityDescription) throws {
        guard let key = request["filter.key"] else { return nil }
        guard let attribute = Self.attributes(of: entity).first(where: { $0.name == key }) else {
            throw CommandError("\(entity.name ?? "") has no attribute \"\(key)\" that is compared.")
        }
        let type = GraphSchema.Attribute(attribute).type
        let value = request.fields["filter.value"] ?? ""
        // As the predicate language prints it: a key that is a word of the language follows a number sign.
        let path = NSExpression(forKeyPath: key).description
        switch request["filter.operator"].flatMap(Operator.init) ?? .equal {
        case .empty: predicate = "\(path) == nil"
        case .filled: predicate = "\(path) != nil"
        case .equal: predicate = "\(path) == \(try Self.constant(value, type, key))"
        case .different: predicate = "\(path) != \(try Self.constant(value, type, key))"
        case .less: predicate = "\(path) < \(try Self.constant(value, type, key))"
        case .greater: predicate = "\(path) > \(try Self.constant(value, type, key))"
        case .contains: predicate = "\(path) CONTAINS[cd] \(try Self.text(value, type, key))"
        case .begins: predicate = "\(path) BEGINSWITH[cd] \(try Self.text(value, type, key))"
        }
    }

    private static func attributes(of entity: NSEntityDescription) -> [NSAttributeDescription] {
        entity.attributesByName.sorted { $0.key < $1.key }.map(\.value).filter { attribute in
            !attribute.isTransient
                && ![.binaryData, .transformable, .composite, .undefined].contains(
                    GraphSchema.Attribute(attribute).type)
        }
    }

    private static func constant(_ value: String, _ type: GraphValueType, _ key: String) throws -> String {
        let text = value.trimmingCharacters(in: .whitespaces)
        switch type {
        case .integer16, .integer32, .integer64, .double, .float, .decimal:
            guard let number = Double(text), number.isFinite else {
                throw CommandError("\(key) is compared with a number, not with \"\(value)\".")
            }
            // The value that is stored for the text.
            return type == .float ? "\(Double(Float(number)))" : text
        case .boolean:
            let words = ["true": "TRUE", "yes": "TRUE", "1": "TRUE", "false": "FALSE", "no": "FALSE", "0": "FALSE"]
            guard let word = words[text.lowercased()] else {
                throw CommandError("\(key) is compared with true or false, not with \"\(value)\".")
            }
            return word
        case .string: return quoted(value)
        default: return quoted(text)
        }
    }

    private static func text(_ value: String, _ type: GraphValueType, _ key: String) throws -> String {
        guard type == .string else { throw CommandError("\(key) is not a text: choose another comparison.") }
        return quoted(value)
    }

    private static func quoted(_ text: String) -> String {
        // Scalars, as the parser reads them: a quote and a combining mark are one `Character`.
        "\""
            + text.replacingOccurrences(of: "\\", with: "\\\\", options: .literal)
            .replacingOccurrences(of: "\"", with: "\\\"", options: .literal) + "\""
    }

    // MARK: - HTML

    /// The fields that choose a filter.
    static func fields(of entity: NSEntityDescription) -> HTML {
        let keys = attributes(of: entity).map { attribute -> HTML in
            "<option value=\"\(attribute.name)\">\(attribute.name)</option>"
        }
        let operators = Operator.allCases.map { choice -> HTML in
            "<option value=\"\(choice.rawValue)\">\(choice.title)</option>"
        }
        return """
            <details class="filter"><summary>Add a filter</summary><div class="field">
            <select name="filter.key" aria-label="Attribute of the filter"><option value="">attribute</option>\(keys)</select>
            <select name="filter.operator" aria-label="Comparison of the filter">\(operators)</select>
            <input name="filter.value" type="text" autocomplete="off" aria-label="Value of the filter" placeholder="a value">
            <button>Add</button></div></details>
            """
    }
}
