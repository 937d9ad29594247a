/// The identifier of one record in its document.
///
/// This library uses three forms, distinguished by their text: `Note/p12` (entity and primary key in the store),
/// `Tag/=home` (entity and natural key; parts of a compound key are separated by commas), `#12` (the number in the
/// walk). Instead of the first form, dictionaries have the URI of the object. A reference to an object outside the
/// document has both the primary key and the natural key: `Tag/p3=home`. Other documents may use any text that does not
/// begin with `$`. Two ids are equal if their UTF-8 is: canonically equivalent texts are different ids.
public struct RecordID: Sendable, Hashable {
    /// The text of the id in the document.
    public let text: String

    /// Creates an id of any form.
    public init(_ text: String) {
        self.text = text
    }

    public static func == (left: RecordID, right: RecordID) -> Bool { left.text.hasSameUTF8(as: right.text) }

    /// Covers all that `==` compares: comparisons of states by hashes would miss that a text has changed to an equivalent one.
    public func hash(into hasher: inout Hasher) { hasher.combine(utf8: text) }

    /// The id of a stored object: `Note/p12`.
    public static func stored(entity: String, primaryKey: Int64) -> RecordID {
        var entity = entity
        // Written into place: interpolation takes several times as long, and each exported object has such an id.
        return entity.withUTF8 { name in
            let digits = IntegerText.digitCount(primaryKey.magnitude) + (primaryKey < 0 ? 1 : 0)
            return RecordID(
                String(unsafeUninitializedCapacity: name.count + 2 + digits) { text in
                    guard let base = text.baseAddress else { return 0 }
                    _ = text.initialize(fromContentsOf: name)
                    base[name.count] = UInt8(ascii: "/")
                    base[name.count + 1] = UInt8(ascii: "p")
                    return IntegerText.write(primaryKey, at: base + name.count + 2) - base
                })
        }
    }

    /// The id of an object by its natural key: `Tag/=home`. In a part, `,` and `\` are escaped by a `\`.
    public static func key(entity: String, values: [String]) -> RecordID {
        let prefix = keyPrefix(entity)
        if values.count == 1, let id = key(prefix: prefix, value: values[0]) { return id }
        var text = prefix
        for (index, value) in values.enumerated() {
            if index > 0 { text.append(",") }
            guard value.utf8.contains(where: isSpecial) else {
                text += value
                continue
            }
            for scalar in value.unicodeScalars {
                if scalar == "," || scalar == "\\" { text.append("\\") }
                text.unicodeScalars.append(scalar)
            }
        }
        return RecordID(text)
    }

    /// The beginning of the ids of an entity's objects by their natural keys.
    static func keyPrefix(_ entity: String) -> String { entity + "/=" }

    /// The id of an object by a natural key of one part; nil if that part contains a character that must be escaped.
    static func key(prefix: String, value: String) -> RecordID? {
        var (prefix, value) = (prefix, value)
        return value.withUTF8 { value in
            if value.contains(where: isSpecial) { return nil }
            return prefix.withUTF8 { prefix in
                RecordID(
                    String(unsafeUninitializedCapacity: prefix.count + value.count) { text in
                        _ = text[..<prefix.count].initialize(fromContentsOf: prefix)
                        _ = text[prefix.count...].initialize(fromContentsOf: value)
                        return prefix.count + value.count
                    })
            }
        }
    }

    /// The id of a stored object with a natural key added: `Tag/p3=home` from `Tag/p3` and `Tag/=home`.
    package func adding(key: RecordID) -> RecordID {
        guard let mark = key.text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return self }
        return RecordID(text + key.text[mark...])
    }

    /// The id without the natural key that was added to a primary key: `Tag/p3` of `Tag/p3=home`. All other ids are
    /// unchanged.
    package var withoutAddedKey: RecordID {
        guard !isNaturalKey, let mark = addedKeyMark else { return self }
        return RecordID(String(text[..<mark]))
    }

    /// Whether the id has the form `Tag/=home`.
    package var isNaturalKey: Bool {
        var text = text
        return text.withUTF8 { bytes in
            var slash = 0
            while slash < bytes.count, bytes[slash] != UInt8(ascii: "/") { slash += 1 }
            return slash > 0 && slash + 1 < bytes.count && bytes[slash + 1] == UInt8(ascii: "=")
        }
    }

    private static let uriPrefix = "x-coredata://".utf8
    private var isURI: Bool { text.utf8.starts(with: RecordID.uriPrefix) }

    /// The position of the `=` in `Tag/p3=home`; nil for other forms.
    private var addedKeyMark: String.Index? {
        guard let rest = name?.rest, rest.first == UInt8(ascii: "p"),
            let mark = rest.firstIndex(of: UInt8(ascii: "=")), mark > rest.index(after: rest.startIndex),
            rest[rest.index(after: rest.startIndex)..<mark].allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return mark
    }

    /// The entity, and the text after it, of ids that contain an entity: `Tag` and `p3` of `Tag/p3` and of
    /// `x-coredata://…/Tag/p3`.
    private var name: (entity: Substring.UTF8View, rest: Substring.UTF8View)? {
        var local = text.utf8[...]
        if isURI {
            guard let slash = local.dropFirst(RecordID.uriPrefix.count).firstIndex(of: UInt8(ascii: "/")) else {
                return nil
            }
            local = local[local.index(after: slash)...]
        }
        guard let slash = local.firstIndex(of: UInt8(ascii: "/")), slash > local.startIndex else { return nil }
        return (local[..<slash], local[local.index(after: slash)...])
    }

    /// The id of the object with this number in the walk.
    public static func number(_ number: Int) -> RecordID {
        RecordID("#\(number)")
    }

    /// Whether the id has the form `#12`, which says nothing about the object.
    package var isNumber: Bool {
        text.utf8.first == UInt8(ascii: "#") && text.utf8.count > 1
            && text.utf8.dropFirst().allSatisfy { (48...57).contains($0) }
    }

    /// The entity in the id, for the forms that contain one.
    public var entity: String? {
        guard let (entity, rest) = name else { return nil }
        if rest.first == UInt8(ascii: "=") { return String(Substring(entity)) }
        return RecordID.primaryKey(rest) == nil ? nil : String(Substring(entity))
    }

    /// The primary key of an id of the form `Note/p12` or `Tag/p3=home`; nil for a URI, which is valid for one store
    /// only.
    public var primaryKey: Int64? {
        var text = text
        return text.withUTF8 { bytes in
            // After the first slash of a URI there is another one.
            guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")), slash > 0, slash + 2 < bytes.count,
                bytes[slash + 1] == UInt8(ascii: "p")
            else { return nil }
            var number: Int64 = 0
            var digits = 0
            for byte in bytes[(slash + 2)...].prefix(while: { $0 != UInt8(ascii: "=") }) {
                let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
                guard (48...57).contains(byte), !isTooLarge else { return nil }
                let (sum, overflows) = tens.addingReportingOverflow(Int64(byte - 48))
                guard !overflows else { return nil }
                number = sum
                digits += 1
            }
            return digits > 0 ? number : nil
        }
    }

    private static func primaryKey(_ rest: Substring.UTF8View) -> Int64? {
        guard rest.first == UInt8(ascii: "p"),
            let digits = Substring(rest.dropFirst().prefix { $0 != UInt8(ascii: "=") }).nilIfEmpty,
            digits.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int64(digits)
    }

    /// The parts of the natural key of an id of the form `Tag/=home` or `Tag/p3=home`.
    package var keyValues: [String]? {
        if let simpleKey { return [simpleKey] }
        guard var rest = name?.rest else { return nil }
        if rest.first != UInt8(ascii: "=") {
            guard let mark = addedKeyMark else { return nil }
            rest = rest[mark...]
        }
        if !rest.contains(where: RecordID.isSpecial) { return [String(Substring(rest.dropFirst()))] }
        if !rest.contains(UInt8(ascii: "\\")) {
            return rest.dropFirst().split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
        }
        var values = [""]
        var isEscaped = false
        for scalar in Substring(rest.dropFirst()).unicodeScalars {
            if !isEscaped, scalar == "\\" {
                isEscaped = true
            } else if !isEscaped, scalar == "," {
                values.append("")
            } else {
                values[values.count - 1].unicodeScalars.append(scalar)
                isEscaped = false
            }
        }
        return values
    }

    /// The natural key of an id of the form `Tag/=home` that has one part and no escapes. It is found in one pass over the
    /// bytes, because every reference in a document of the plain layout is one.
    private var simpleKey: String? {
        var text = text
        return text.withUTF8 { bytes in
            guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")), slash > 0, slash + 1 < bytes.count,
                bytes[slash + 1] == UInt8(ascii: "="), !bytes[(slash + 2)...].contains(where: RecordID.isSpecial)
            else { return nil }
            return String(decoding: bytes[(slash + 2)...], as: UTF8.self)
        }
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\\")
    }
}

extension RecordID: CustomStringConvertible {
    public var description: String { text }
}

extension RecordID: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension Substring {
    fileprivate var nilIfEmpty: Substring? { isEmpty ? nil : self }
}
