import Foundation

/// Writes a tree as Apple's XML property list.
///
/// Text that XML cannot represent is written as `{"$utf8": data}`.
struct XMLPropertyListWriter {
    private let output: ByteOutput

    init(to output: ByteOutput) {
        self.output = output
    }

    mutating func write(_ tree: ReadableValue) throws {
        try output.write(
            literal: """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">

                """)
        try value(tree)
        try output.write(literal: "</plist>\n")
    }

    /// Recursive to the depth of the tree, which its writer limits.
    private mutating func value(_ tree: ReadableValue) throws {
        switch tree {
        case .array(let values):
            try output.write(literal: "<array>\n")
            for item in values { try value(item) }
            try output.write(literal: "</array>\n")
        case .dictionary(let members):
            try output.write(literal: "<dict>\n")
            for member in members {
                var name = member.name
                guard name.withUTF8({ XMLText.canHold(UnsafeRawBufferPointer($0)) }) else {
                    throw DocumentError(
                        .notRepresentable, "The key \"\(XMLText.escaped(name))\" is not valid in XML.")
                }
                try element("key", name)
                try value(member.value)
            }
            try output.write(literal: "</dict>\n")
        case .value(let leaf): try scalar(leaf)
        }
    }

    private mutating func scalar(_ value: GraphValue) throws {
        switch value {
        case .bool(let value): try output.write(literal: value ? "<true/>\n" : "<false/>\n")
        case .integer(let value): try element("integer", String(value))
        case .double(let value): try element("real", value.description)
        case .data(let value): try element("data", value.base64EncodedString())
        case .date(let seconds):
            // Whole seconds, which the tree's style ensures.
            try element("date", DateText.text(seconds).dropLast(5) + "Z")
        default:
            var text = TextValue.text(of: value) ?? ""
            if text.withUTF8({ XMLText.canHold(UnsafeRawBufferPointer($0)) }) {
                return try element("string", text)
            }
            try output.write(literal: "<dict>\n")
            try element("key", ValueTag.utf8.rawValue)
            try element("data", Data(text.utf8).base64EncodedString())
            try output.write(literal: "</dict>\n")
        }
    }

    private func element(_ name: StaticString, _ content: String) throws {
        try output.write(UInt8(ascii: "<"))
        try output.write(literal: name)
        try output.write(UInt8(ascii: ">"))
        try XMLText.write(content, to: output)
        try output.write(literal: "</")
        try output.write(literal: name)
        try output.write(literal: ">\n")
    }
}
