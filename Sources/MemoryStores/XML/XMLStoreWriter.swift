import CoreDataErrors
import Foundation
import KeyedArchives
import ManagedObjects

/// Writes an XML store as Xcode does, to the byte.
struct XMLStoreWriter {
    private let url: URL
    private var bytes: [UInt8] = []

    init(url: URL) {
        self.url = url
    }

    /// The bytes of a document. The metadata's keys are sorted.
    ///
    /// - Throws: Code 134030 for text that XML cannot contain, such as control characters, and for metadata that are
    ///   not property list types.
    mutating func data(of document: StoreDocument) throws -> Data {
        bytes = []
        append(document.declaration ?? "<?xml version=\"1.0\" standalone=\"yes\"?>")
        append("\n<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">\n\n")
        append("<database>\n    <databaseInfo>\n        <version>134481920</version>\n        <UUID>")
        try appendEscaped(document.uuid, "UUID")
        append("</UUID>\n        <nextObjectID>\(document.lastReference)</nextObjectID>\n        <metadata>\n")
        let metadata = try StoreMetadata.propertyList(of: document.metadata)
        append("            <plist version=\"1.0\">\n")
        try write(metadata, indentation: String(repeating: " ", count: 16))
        append("            </plist>\n        </metadata>\n    </databaseInfo>\n")
        for (index, object) in document.objects.enumerated() {
            if index == Self.sampleCount {
                // Room for all, as far as the first ones tell: a growing buffer is copied again and again.
                let estimate = bytes.count / Self.sampleCount * document.objects.count * 9 / 8
                bytes.reserveCapacity(min(estimate, Self.largestReservation))
            }
            try write(object)
        }
        append("</database>")
        return Data(bytes)
    }

    private static let sampleCount = 256
    /// The first objects may be much larger than the others.
    private static let largestReservation = 256 << 20

    private mutating func write(_ object: StoreDocument.Object) throws {
        append("    <object type=\"")
        try appendEscaped(object.entity, object.entity)
        append("\" id=\"z\(object.reference)\">\n")
        for attribute in object.attributes {
            guard case .string(let value) = attribute.value else { continue }
            append("        <attribute name=\"")
            try appendEscaped(attribute.name, "\(object.entity).\(attribute.name)")
            append("\" type=\"")
            append(attribute.type)
            append("\">")
            try appendEscaped(value, "\(object.entity).\(attribute.name)")
            append("</attribute>\n")
        }
        for relationship in object.relationships {
            append("        <relationship name=\"")
            try appendEscaped(relationship.name, relationship.name)
            append(relationship.isToMany ? "\" type=\"0/0\" destination=\"" : "\" type=\"1/1\" destination=\"")
            try appendEscaped(relationship.destination, relationship.destination)
            append("\"")
            if !relationship.references.isEmpty {
                append(" idrefs=\"")
                for (position, reference) in relationship.references.enumerated() {
                    append(position == 0 ? "z" : " z")
                    append(String(reference))
                }
                append("\"")
            }
            append("></relationship>\n")
        }
        append("    </object>\n")
    }

    // MARK: - Metadata

    /// The recursion is as deep as the metadata, whose depth is limited by their property list.
    private mutating func write(_ value: PropertyListValue, indentation: String) throws {
        switch value {
        case .dictionary(let members):
            append(indentation + "<dict>\n")
            for (key, value) in members.sorted(by: { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }) {
                append("\(indentation)    <key>")
                try appendEscaped(key, "metadata")
                append("</key>\n")
                try write(value, indentation: indentation + "    ")
            }
            append(indentation + "</dict>\n")
        case .array(let elements), .set(let elements):
            append(indentation + "<array>\n")
            for element in elements { try write(element, indentation: indentation + "    ") }
            append(indentation + "</array>\n")
        case .data(let data):
            // Always indented with tabs.
            append("\(indentation)<data>\n\t\t\(data.base64EncodedString())\n\t\t</data>\n")
        case .string(let string):
            append("\(indentation)<string>")
            try appendEscaped(string, "metadata")
            append("</string>\n")
        case .boolean(let flag): append(indentation + (flag ? "<true/>\n" : "<false/>\n"))
        case .integer(let number): append("\(indentation)<integer>\(number)</integer>\n")
        case .unsignedInteger(let number): append("\(indentation)<integer>\(number)</integer>\n")
        case .real(let number): append("\(indentation)<real>\(number)</real>\n")
        case .date(let date): append("\(indentation)<date>\(ISO8601DateFormatter().string(from: date))</date>\n")
        case .uid(let number): append("\(indentation)<integer>\(number)</integer>\n")
        case .null: break
        }
    }

    // MARK: - Text

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Appends text as content or as an attribute value. A carriage return is written as a character reference, because it
    /// would be read as a line feed.
    private mutating func appendEscaped(_ value: String, _ place: @autoclosure () -> String) throws {
        var value = value
        var refused: UInt32?
        value.withUTF8 { text in
            var start = 0
            for position in text.indices {
                let replacement: StaticString
                switch text[position] {
                case UInt8(ascii: "&"): replacement = "&amp;"
                case UInt8(ascii: "<"): replacement = "&lt;"
                case UInt8(ascii: ">"): replacement = "&gt;"
                case UInt8(ascii: "\r"): replacement = "&#13;"
                case UInt8(ascii: "\t"), UInt8(ascii: "\n"): continue
                case 0..<0x20: return refused = UInt32(text[position])
                // U+FFFE and U+FFFF.
                case 0xEF where text[position + 1] == 0xBF && text[position + 2] >= 0xBE:
                    return refused = 0xFF40 + UInt32(text[position + 2])
                default: continue
                }
                bytes.append(contentsOf: text[start..<position])
                bytes.append(
                    contentsOf: UnsafeBufferPointer(
                        start: replacement.utf8Start, count: replacement.utf8CodeUnitCount))
                start = position + 1
            }
            bytes.append(contentsOf: text[start...])
        }
        guard let refused else { return }
        throw CocoaError(
            .persistentStoreSave,
            "“\(place())” has the character U+\(String(refused, radix: 16, uppercase: true)), which XML cannot hold.",
            url: url)
    }
}
