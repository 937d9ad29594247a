import Coral
import Foundation
import GraphDocuments

/// What bytes contain, recognised by their form alone. Nothing is executed, and no class is instantiated.
package indirect enum ReadableBytes {
    /// Text in UTF-8.
    case text(String)
    /// A property list or a keyed archive.
    case tree(ReadableValue)
    /// The fields of a message of Protocol Buffers, by their numbers: names are not in the bytes.
    case fields(ReadableValue)
    /// The type of a picture.
    case picture(String)
    /// The 16 bytes of a UUID.
    case uuid(UUID)
    /// The content of compressed bytes.
    case compressed(String, content: ReadableBytes, byteCount: Int)
    /// The first bytes in hexadecimal digits.
    case hexadecimal(String)

    /// The number of times that compressed bytes may be in compressed bytes.
    private static let levelLimit = 3
    /// Larger bytes are not examined.
    private static let byteLimit = 32 << 20

    /// Examines bytes. Cost: in proportion to the bytes and to what they expand to, which has a limit.
    package init(_ data: Data) { self.init(data, level: 0) }

    private init(_ data: Data, level: Int) {
        let content = Self.content(of: data, level)
        self = content ?? .hexadecimal(Self.digits(data))
    }

    private static func content(of data: Data, _ level: Int) -> ReadableBytes? {
        guard !data.isEmpty, data.count <= byteLimit else { return nil }
        if let type = PageValue.pictureType(data) { return .picture(type) }
        if level < levelLimit, let (name, inflated) = Inflation.content(of: data) {
            return .compressed(name, content: ReadableBytes(inflated, level: level + 1), byteCount: inflated.count)
        }
        if data.starts(with: Array("bplist0".utf8)) || data.starts(with: Array("<?xml".utf8)),
            let tree = TransformableReader.readable(data) ?? propertyList(data)
        {
            return .tree(tree)
        }
        if let text = plainText(data) { return .text(text) }
        if let uuid = uuid(data) { return .uuid(uuid) }
        return MessageFields.tree(of: data).map { .fields($0) }
    }

    /// Text without control characters.
    static func plainText(_ data: Data) -> String? {
        guard let text = String(validatingUTF8Bytes: data), !text.isEmpty else { return nil }
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 32 && !(0x7F...0x9F).contains(scalar.value) || ["\n", "\r", "\t"].contains(scalar)
        }
        return isPlain ? text : nil
    }

    /// A UUID of a version and a variant that RFC 9562 defines. Any other 16 bytes may be anything.
    private static func uuid(_ data: Data) -> UUID? {
        let bytes = Array(data)
        guard bytes.count == 16, (1...8).contains(bytes[6] >> 4), bytes[8] >> 6 == 2 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private static func propertyList(_ data: Data) -> ReadableValue? {
        guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil) else { return nil }
        return tree(list, depth: 0)
    }

    private static func tree(_ value: Any, depth: Int) -> ReadableValue? {
        guard depth < 128 else { return nil }
        switch value {
        case let text as String: return .value(.string(text))
        case let data as Data: return .value(.data(data))
        case let date as Date: return .value(.date(date.timeIntervalSinceReferenceDate))
        case let values as [Any]:
            let trees = values.compactMap { tree($0, depth: depth + 1) }
            return trees.count == values.count ? .array(trees) : nil
        case let members as [String: Any]:
            let trees = members.sorted { $0.key < $1.key }.compactMap { name, value in
                tree(value, depth: depth + 1).map { ReadableValue.Member(name: name, value: $0) }
            }
            return trees.count == members.count ? .dictionary(trees) : nil
        case let number as NSNumber:
            if CFNumberKind.isBoolean(number) { return .value(.bool(number.boolValue)) }
            return Int64(exactly: number).map { .value(.integer($0)) } ?? .value(.double(number.doubleValue))
        default: return nil
        }
    }

    /// The number of bytes that are shown in hexadecimal digits.
    private static let shownCount = 32

    private static func digits(_ data: Data) -> String {
        data.prefix(shownCount).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
            + (data.count > shownCount ? " …" : "")
    }
}

/// The kinds of numbers in a property list.
private enum CFNumberKind {
    static func isBoolean(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
}

extension String {
    /// The text of bytes that are valid UTF-8; otherwise nil.
    fileprivate init?(validatingUTF8Bytes data: Data) {
        guard let text = String(data: data, encoding: .utf8) else { return nil }
        self = text
    }
}

// MARK: - As text

extension ReadableBytes {
    /// The texts in the bytes, with the path of each: empty for the bytes themselves, `.2.3` for a field of a message.
    package func forEachText(_ body: (_ path: String, _ text: String) -> Void) {
        switch self {
        case .text(let text): body("", text)
        case .tree(let tree), .fields(let tree): Self.forEachText(in: tree, "", body)
        case .uuid(let uuid): body("", uuid.uuidString)
        case .compressed(_, let content, _): content.forEachText(body)
        case .picture, .hexadecimal: break
        }
    }

    /// Recursive; the readers limit the depth.
    private static func forEachText(in tree: ReadableValue, _ path: String, _ body: (String, String) -> Void) {
        switch tree {
        case .value(let value): if let text = TextValue.text(of: value) { body(path, text) }
        case .array(let values):
            for (index, value) in values.enumerated() { forEachText(in: value, "\(path)[\(index)]", body) }
        case .dictionary(let members):
            for member in members { forEachText(in: member.value, "\(path).\(member.name)", body) }
        }
    }
}
