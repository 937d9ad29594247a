import Foundation

extension DocumentHeader {
    /// The header as a tree of plain values, which is how every format writes it.
    var tree: ReadableValue {
        var members: [ReadableValue.Member] = [
            .init(name: "format", value: .value(.string(format))),
            .init(name: "version", value: .value(.integer(Int64(version)))),
            .init(name: "shape", value: .value(.string(shape.rawValue))),
            .init(name: "ids", value: .value(.string(idScheme.rawValue))),
        ]
        if let storeUUID { members.append(.init(name: "store", value: .value(.string(storeUUID)))) }
        let identifiers = modelVersionIdentifiers.map { ReadableValue.value(.string($0)) }
        members.append(.init(name: "modelIdentifiers", value: .array(identifiers)))
        let hashes = entityVersionHashes.sorted { $0.key < $1.key }.map { name, hash in
            ReadableValue.Member(name: name, value: .value(.string(hash.base64EncodedString())))
        }
        members.append(.init(name: "entityHashes", value: .dictionary(hashes)))
        if !metadata.isEmpty { members.append(.init(name: "metadata", value: .dictionary(metadata))) }
        return .dictionary(members)
    }

    /// The header that the tree stands for. Members that this version does not know are passed over.
    init(tree: ReadableValue, at place: DocumentPlace?) throws {
        guard case .dictionary(let members) = tree else {
            throw DocumentError(.syntax, "The header is no object.", at: place)
        }
        self.init()
        for member in members {
            switch (member.name, member.value) {
            case ("format", .value(.string(let text))): format = text
            case ("version", .value(.integer(let number))): version = Int(clamping: number)
            case ("shape", .value(.string(let text))):
                guard let shape = DocumentShape(rawValue: text) else {
                    throw DocumentError(.unsupported, "There is no document shape \"\(text)\".", at: place)
                }
                self.shape = shape
            case ("ids", .value(.string(let text))): idScheme = IDScheme(rawValue: text) ?? .mixed
            case ("store", .value(.string(let text))): storeUUID = text
            case ("modelIdentifiers", .array(let values)):
                modelVersionIdentifiers = values.compactMap { value in
                    if case .value(.string(let text)) = value { text } else { nil }
                }
            case ("entityHashes", .dictionary(let hashes)):
                for hash in hashes {
                    guard case .value(.string(let text)) = hash.value, let data = Data(base64Encoded: text) else {
                        throw DocumentError(.wrongType, "The hash of \(hash.name) is no Base64.", at: place)
                    }
                    entityVersionHashes[hash.name] = data
                }
            case ("metadata", .dictionary(let values)): metadata = values
            default: break
            }
        }
        guard format == DocumentHeader.formatName else {
            throw DocumentError(.unsupported, "This is a document of the format \"\(format)\".", at: place)
        }
        guard version <= DocumentHeader.currentVersion else {
            throw DocumentError(
                .unsupported,
                "The document is of version \(version); this library reads up to \(DocumentHeader.currentVersion).",
                at: place)
        }
    }
}
