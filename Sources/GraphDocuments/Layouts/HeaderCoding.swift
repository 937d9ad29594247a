import Foundation

extension DocumentHeader {
    /// The header as a tree of plain values, the form for all formats.
    var tree: ReadableValue {
        var members: [ReadableValue.Member] = [
            .init(name: "format", value: .value(.string(format))),
            .init(name: "version", value: .value(.integer(Int64(version)))),
            .init(name: "layout", value: .value(.string(layout.rawValue))),
            .init(name: "ids", value: .value(.string(idScheme.rawValue))),
        ]
        if let storeUUID { members.append(.init(name: "store", value: .value(.string(storeUUID)))) }
        if !roots.isEmpty {
            members.append(.init(name: "roots", value: .array(roots.map { .value(.string($0.text)) })))
        }
        if let shape { members.append(.init(name: "shape", value: .value(.string(shape)))) }
        if layout == .lines, !endIsUnknown {
            members.append(.init(name: RecordMember.endInHeader, value: .value(.bool(true))))
        }
        let identifiers = modelVersionIdentifiers.map { ReadableValue.value(.string($0)) }
        members.append(.init(name: "modelIdentifiers", value: .array(identifiers)))
        let hashes = entityVersionHashes.sorted { $0.key < $1.key }.map { name, hash in
            ReadableValue.Member(name: name, value: .value(.string(hash.base64EncodedString())))
        }
        members.append(.init(name: "entityHashes", value: .dictionary(hashes)))
        if !metadata.isEmpty { members.append(.init(name: "metadata", value: .dictionary(metadata))) }
        return .dictionary(members)
    }

    /// Reads the header from a tree. Unknown members are ignored. Throws `DocumentError` with the path of the member.
    ///
    /// - Parameter place: The position of the header.
    init(tree: ReadableValue, at place: DocumentPlace?) throws {
        guard case .dictionary(let members) = tree else {
            throw DocumentError(.syntax, "The header is not an object.", at: place)
        }
        self.init()
        for member in members {
            let value = member.value
            let spot = place?.member(member.name)
            func wrong(_ wanted: String) -> DocumentError {
                DocumentError(.wrongType, "The header's `\(member.name)` is \(wanted).", at: spot)
            }
            func text() throws -> String {
                guard case .value(.string(let text)) = value else { throw wrong("not a string") }
                return text
            }
            switch member.name {
            case "format": format = try text()
            case "version":
                guard case .value(.integer(let number)) = value, number > 0 else {
                    throw wrong("not a positive integer")
                }
                version = Int(clamping: number)
            case "layout":
                guard let layout = DocumentLayout(rawValue: try text()) else {
                    throw DocumentError(.unsupported, "There is no document layout \"\(try text())\".", at: spot)
                }
                self.layout = layout
            case "ids": idScheme = IDScheme(rawValue: try text()) ?? .mixed
            case "store": storeUUID = try text()
            case "roots":
                guard case .array(let values) = value else { throw wrong("not an array") }
                roots = try values.map { root in
                    guard case .value(.string(let text)) = root else { throw wrong("not an array of strings") }
                    return RecordID(text)
                }
            case "shape": shape = try text()
            case "modelIdentifiers":
                guard case .array(let values) = value else { throw wrong("not an array") }
                modelVersionIdentifiers = try values.map { identifier in
                    guard case .value(.string(let text)) = identifier else { throw wrong("not an array of strings") }
                    return text
                }
            case "entityHashes":
                guard case .dictionary(let hashes) = value else { throw wrong("not an object") }
                for hash in hashes {
                    guard case .value(.string(let text)) = hash.value, let data = Data(base64Encoded: text) else {
                        throw DocumentError(
                            .wrongType, "The hash of \(hash.name) is not valid Base64.", at: spot?.member(hash.name))
                    }
                    entityVersionHashes[hash.name] = data
                }
            case "metadata":
                guard case .dictionary(let values) = value else { throw wrong("not an object") }
                metadata = values
            default: break
            }
        }
        endIsUnknown = layout == .lines && tree.member(RecordMember.endInHeader) != .value(.bool(true))
        guard format == DocumentHeader.formatName else {
            throw DocumentError(.unsupported, "The document has the format \"\(format)\".", at: place?.member("format"))
        }
        guard version <= DocumentHeader.currentVersion else {
            throw DocumentError(
                .unsupported,
                "The document has version \(version); this library reads up to \(DocumentHeader.currentVersion).",
                at: place?.member("version"))
        }
    }
}
