import CoreDataErrors
import Foundation
import KeyedArchives

/// Writes an XML store as Xcode does, to the byte.
struct XMLStoreWriter {
    private let url: URL
    private var text = ""

    init(url: URL) {
        self.url = url
    }

    /// The bytes of a document. The metadata's keys are sorted.
    ///
    /// - Throws: Code 134030 for text that XML cannot contain, such as control characters, and for metadata that are
    ///   not property list types.
    mutating func data(of document: StoreDocument) throws -> Data {
        text = (document.declaration ?? "<?xml version=\"1.0\" standalone=\"yes\"?>") + "\n"
        text += "<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">\n\n"
        text += "<database>\n    <databaseInfo>\n        <version>134481920</version>\n"
        text += "        <UUID>\(try escaped(document.uuid, "UUID"))</UUID>\n"
        text += "        <nextObjectID>\(document.lastReference)</nextObjectID>\n        <metadata>\n"
        let metadata = try StoreMetadata.propertyList(of: document.metadata)
        text += "            <plist version=\"1.0\">\n"
        try write(metadata, indentation: String(repeating: " ", count: 16))
        text += "            </plist>\n        </metadata>\n    </databaseInfo>\n"
        for object in document.objects { try write(object) }
        text += "</database>"
        return Data(text.utf8)
    }

    private mutating func write(_ object: StoreDocument.Object) throws {
        text += "    <object type=\"\(try escaped(object.entity, object.entity))\" id=\"z\(object.reference)\">\n"
        for attribute in object.attributes {
            guard case .string(let value) = attribute.value else { continue }
            let name = "\(object.entity).\(attribute.name)"
            text += "        <attribute name=\"\(try escaped(attribute.name, name))\" type=\"\(attribute.type)\">"
            text += "\(try escaped(value, name))</attribute>\n"
        }
        for relationship in object.relationships {
            let name = try escaped(relationship.name, relationship.name)
            let destination = try escaped(relationship.destination, relationship.destination)
            text += "        <relationship name=\"\(name)\" type=\"\(relationship.isToMany ? "0/0" : "1/1")\" "
            text += "destination=\"\(destination)\""
            if !relationship.references.isEmpty {
                text += " idrefs=\"\(relationship.references.map { "z\($0)" }.joined(separator: " "))\""
            }
            text += "></relationship>\n"
        }
        text += "    </object>\n"
    }

    // MARK: - Metadata

    /// The recursion is as deep as the metadata, whose depth is limited by their property list.
    private mutating func write(_ value: PropertyListValue, indentation: String) throws {
        switch value {
        case .dictionary(let members):
            text += indentation + "<dict>\n"
            for (key, value) in members.sorted(by: { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }) {
                text += "\(indentation)    <key>\(try escaped(key, "metadata"))</key>\n"
                try write(value, indentation: indentation + "    ")
            }
            text += indentation + "</dict>\n"
        case .array(let elements), .set(let elements):
            text += indentation + "<array>\n"
            for element in elements { try write(element, indentation: indentation + "    ") }
            text += indentation + "</array>\n"
        case .data(let data):
            // Always indented with tabs.
            text += "\(indentation)<data>\n\t\t\(data.base64EncodedString())\n\t\t</data>\n"
        case .string(let string): text += "\(indentation)<string>\(try escaped(string, "metadata"))</string>\n"
        case .boolean(let flag): text += indentation + (flag ? "<true/>\n" : "<false/>\n")
        case .integer(let number): text += "\(indentation)<integer>\(number)</integer>\n"
        case .unsignedInteger(let number): text += "\(indentation)<integer>\(number)</integer>\n"
        case .real(let number): text += "\(indentation)<real>\(number)</real>\n"
        case .date(let date): text += "\(indentation)<date>\(ISO8601DateFormatter().string(from: date))</date>\n"
        case .uid(let number): text += "\(indentation)<integer>\(number)</integer>\n"
        case .null: break
        }
    }

    // MARK: - Text

    /// Text as content or as an attribute value. A carriage return is written as a character reference, because it
    /// would be read as a line feed.
    private func escaped(_ value: String, _ place: String) throws -> String {
        var result = ""
        result.reserveCapacity(value.utf8.count)
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\r": result += "&#13;"
            case "\t", "\n": result.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}":
                throw CocoaError(
                    .persistentStoreSave,
                    "“\(place)” has the character U+\(String(scalar.value, radix: 16, uppercase: true)), which XML cannot hold.",
                    url: url)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
