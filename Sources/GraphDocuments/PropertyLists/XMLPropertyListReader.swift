import Foundation
import XMLReading

/// Reads Apple's XML property list as a tree.
///
/// `PropertyListSerialization` is not used, because it is recursive and a hostile document could overflow the stack.
enum XMLPropertyListReader {
    static func tree(_ data: Data, depthLimit: Int) throws -> ReadableValue {
        let reader = XMLReader(data, documentTypes: .withoutDeclarations)
        var builder = PropertyListBuilder(reader: reader, depthLimit: depthLimit)
        do {
            while true {
                switch try reader.next() {
                case .start: try builder.begin()
                case .end: try builder.end()
                case .text: builder.append()
                case .endOfDocument:
                    try reader.checkEncoding()
                    guard let root = builder.root else { throw reader.error(.syntax, "The property list is empty.") }
                    return root
                }
            }
        } catch let error as XMLError {
            throw DocumentError(error)
        }
    }
}

/// Builds the tree from the reader's events.
private struct PropertyListBuilder {
    private let reader: XMLReader
    private let depthLimit: Int
    private(set) var root: ReadableValue?
    private var open: [Container] = []
    private var text: String?

    private struct Container {
        var isDictionary: Bool
        var key: String?
        var keys: Set<String> = []
        var values: [ReadableValue] = []
        var members: [ReadableValue.Member] = []
    }

    init(reader: XMLReader, depthLimit: Int) {
        self.reader = reader
        self.depthLimit = depthLimit
    }

    mutating func begin() throws {
        guard text == nil else { throw reader.error(.syntax, "An element is inside a value.") }
        guard (reader.name == "plist") == (reader.depth == 1) else {
            let isRoot = reader.depth == 1
            throw reader.error(
                .syntax, isRoot ? "The document is not a property list." : "A property list is inside another.")
        }
        switch reader.name {
        case "plist": break
        case "dict", "array":
            guard open.count < depthLimit else {
                throw reader.error(.limit, "The property list nests deeper than \(depthLimit) levels.")
            }
            open.append(Container(isDictionary: reader.name == "dict"))
        case "key", "string", "integer", "real", "date", "data", "true", "false": text = ""
        default: throw reader.error(.syntax, "The element <\(reader.name)> is unknown in property lists.")
        }
    }

    mutating func append() {
        if text != nil { text?.append(reader.text) }
    }

    mutating func end() throws {
        let name = reader.name
        guard name != "plist" else { return }
        let content = text ?? ""
        text = nil
        switch name {
        case "dict", "array":
            guard let container = open.popLast() else { return }
            guard container.key == nil else { throw reader.error(.syntax, "A key has no value.") }
            try add(container.isDictionary ? .dictionary(container.members) : .array(container.values))
        case "key":
            guard let top = open.indices.last, open[top].isDictionary, open[top].key == nil else {
                throw reader.error(.syntax, "A key is outside a dictionary, or follows another key.")
            }
            guard open[top].keys.insert(content).inserted else {
                throw reader.error(.duplicateKey, "The key \"\(content)\" occurs twice in one dictionary.")
            }
            open[top].key = content
        default:
            guard let value = value(name, content) else {
                throw reader.error(.wrongType, "The content of <\(name)> is not valid: \(content.prefix(40)).")
            }
            try add(.value(value))
        }
    }

    private func value(_ name: String, _ content: String) -> GraphValue? {
        switch name {
        case "string": .string(content)
        case "integer": Int64(content).map { .integer($0) } ?? TextValue.anyValue(content, as: .decimal)
        case "real": Double(content).map { .double($0) }
        case "date": TextValue.anyValue(content, as: .date)
        case "data": TextValue.anyValue(content, as: .binaryData)
        case "true": .bool(true)
        case "false": .bool(false)
        default: nil
        }
    }

    private mutating func add(_ value: ReadableValue) throws {
        guard let top = open.indices.last else {
            if root != nil { throw reader.error(.syntax, "The property list has two roots.") }
            root = value
            return
        }
        if !open[top].isDictionary {
            open[top].values.append(value)
        } else if let key = open[top].key {
            open[top].key = nil
            open[top].members.append(.init(name: key, value: value))
        } else {
            throw reader.error(.syntax, "A value in a dictionary has no key.")
        }
    }
}
