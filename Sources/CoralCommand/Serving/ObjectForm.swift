import Coral

/// The fields of the form on an object's page, and the assignments that they state.
///
/// Each property has its value when the page was made beside the one that was entered: only what the user has changed is assigned.
struct ObjectForm {
    /// The kinds of fields.
    enum Kind: String {
        case text, bytes, value, members
    }

    private let fields: [String: String]

    init(_ request: SiteRequest) { fields = request.fields }

    /// The text that was entered for each property, for a form that is shown again.
    var entered: [String: String] {
        Dictionary(
            uniqueKeysWithValues: fields.compactMap { name, value in
                name.hasPrefix("value.") ? (String(name.dropFirst(6)), Self.text(value)) : nil
            })
    }

    /// The assignments of the changed properties, in the order of their names. Throws `FormMistakes` for values that a page may not
    /// set.
    func assignments() throws -> [Assignment] {
        var mistakes = FormMistakes()
        let assignments = entered.keys.sorted().compactMap { key -> Assignment? in
            do {
                return try value(of: key).flatMap { Assignment(argument: "\(key)=\($0)") }
            } catch {
                mistakes.add(ErrorText.text(of: error), to: key)
                return nil
            }
        }
        if !mistakes.isEmpty { throw mistakes }
        return assignments
    }

    /// The value in the syntax of `coral set`; nil if it was not changed.
    private func value(of key: String) throws -> String? {
        let value = Self.text(fields["value.\(key)"] ?? "")
        let was = fields["was.\(key)"].map(Self.text)
        let isNone = fields["none.\(key)"] != nil
        let isCleared = isNone && fields["wasnone.\(key)"] == nil
        try BinaryEditor.check(value)
        switch fields["kind.\(key)"].flatMap(Kind.init) ?? .value {
        case .text:
            let isKept = value == was && isNone == (fields["wasnone.\(key)"] != nil)
            if isKept { return nil }
            if isNone, value == was { return "null" }
            // A string of JSON, so that `null` is text.
            let breaks = fields["breaks.\(key)"].flatMap(LineBreaks.init(rawValue:)) ?? .lineFeed
            return String(decoding: try JSONEncoder().encode(breaks.text(value)), as: UTF8.self)
        case .bytes:
            guard !value.isEmpty else { return isCleared ? "null" : nil }
            return value
        case .value:
            guard value != was else { return nil }
            return value.isEmpty ? "null" : value
        case .members:
            let added = fields["add.\(key)"] ?? ""
            guard value != was || !added.isEmpty else { return nil }
            let names = [value, added].filter { !$0.isEmpty }
            return names.isEmpty ? "null" : names.joined(separator: ", ")
        }
    }

    /// Browsers send line breaks as two characters.
    private static func text(_ value: String) -> String {
        value.replacingOccurrences(of: "\r\n", with: "\n", options: .literal)
    }
}

// Literally, because to Foundation a line break and a combining mark after it are one character.

/// The line breaks of a text. Browsers send all of them in one form, so that the form of an edited text states those of the text
/// before.
enum LineBreaks: String {
    case lineFeed, carriageReturn, both

    /// The line breaks of a text; nil if there are several forms.
    init?(of text: String) {
        let parts = text.replacingOccurrences(of: "\r\n", with: "", options: .literal)
        let returns = parts.utf8.contains(UInt8(ascii: "\r"))
        let feeds = parts.utf8.contains(UInt8(ascii: "\n"))
        switch (returns, feeds, parts.utf8.count < text.utf8.count) {
        case (false, _, false): self = .lineFeed
        case (true, false, false): self = .carriageReturn
        case (false, false, true): self = .both
        default: return nil
        }
    }

    /// A text whose lines end with line feeds, with these line breaks.
    func text(_ text: String) -> String {
        switch self {
        case .lineFeed: text
        case .carriageReturn: text.replacingOccurrences(of: "\n", with: "\r", options: .literal)
        case .both: text.replacingOccurrences(of: "\n", with: "\r\n", options: .literal)
        }
    }
}

/// Why a form was not accepted: a sentence for each property, and those about the object or others.
struct FormMistakes: Error {
    private(set) var sentences: [String: String] = [:]
    private(set) var others: [String] = []

    var isEmpty: Bool { sentences.isEmpty && others.isEmpty }

    mutating func add(_ sentence: String, to property: String) { sentences[property] = sentence }

    /// Adds an error of validation: at its property if it is one of the object, otherwise to the others.
    mutating func add(_ error: any Error, of object: NSManagedObject) {
        let details = (error as NSError).userInfo["NSDetailedErrors"] as? [NSError] ?? [error as NSError]
        for detail in details {
            let owner = detail.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
            if let key = detail.userInfo[NSValidationKeyErrorKey] as? String, owner?.objectID == object.objectID {
                add(ErrorText.text(of: detail), to: key)
            } else {
                others.append(ErrorText.text(of: detail))
            }
        }
    }
}
