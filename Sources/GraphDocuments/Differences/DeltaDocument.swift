import CodedErrors
import Foundation
import KeyedArchives

/// Documents of changes, in any format: `$header` and `$changes`, one object each; in JSON Lines each on a line.
/// JSON, JSON Lines and XML are streamed; whole property lists are in memory.
package enum DeltaDocument {
    /// The format name in the header of documents of changes.
    package static let formatName = "coral-delta"
    /// The newest version that this library reads and writes. Version 2 has old ids of updated records, and is written
    /// only if there are any.
    package static let currentVersion = 2

    /// Writes a delta. The same delta gives the same bytes. Throws `DocumentError`.
    package static func write(_ delta: GraphDelta, as format: GraphFormat, to output: ByteOutput) throws {
        let header = headerTree(delta, statesEnd: format == .jsonLines)
        switch format {
        case .json, .jsonLines:
            var writer = JSONWriter(to: output)
            try writer.beginObject()
            try writer.key(RecordMember.header)
            try writer.tree(header)
            if format == .jsonLines {
                try writer.endObject()
                try writer.endLine()
                for change in delta.changes {
                    try writer.tree(change.tree)
                    try writer.endLine()
                }
                try writer.endLine(ofDocumentWith: delta.changes.count)
            } else {
                try writer.lineBreak()
                try writer.key(RecordMember.changes)
                try writer.beginArray()
                for change in delta.changes {
                    try writer.lineBreak()
                    try writer.tree(change.tree)
                }
                try writer.endArray()
                try writer.endObject()
                try writer.endLine()
            }
        case .propertyList, .xmlPropertyList:
            let style = TreeStyle(style: .propertyList, hasWholeSecondsOnly: format == .xmlPropertyList)
            let tree = ReadableValue.dictionary([
                .init(name: RecordMember.header, value: style.tree(header)),
                .init(name: RecordMember.changes, value: .array(delta.changes.map { style.tree($0.tree) })),
            ])
            if format == .propertyList {
                try BinaryPropertyList.write(tree, to: output)
            } else {
                var writer = XMLPropertyListWriter(to: output)
                try writer.write(tree)
            }
        case .xml:
            let writer = XMLTreeWriter(to: output)
            try writer.beginDocument("changes")
            try output.write(literal: "<header>")
            try writer.tree(header)
            try output.write(literal: "</header>\n")
            for change in delta.changes {
                try output.write(literal: "<change>")
                try writer.tree(change.tree)
                try output.write(literal: "</change>\n")
            }
            try writer.endDocument("changes")
        }
        try output.finish()
    }

    /// Reads a delta. Throws `DocumentError`, for example for a document of records.
    package static func read(
        _ data: Data, as format: GraphFormat? = nil, limits: DocumentLimits = .standard
    ) throws -> GraphDelta {
        let format = try format ?? GraphFormat.ofDocument(beginning: data)
        switch format {
        case .json, .jsonLines:
            return try read(JSONReader(data, options: .init(allowsManyValues: true), limits: limits), limits)
        case .propertyList, .xmlPropertyList:
            let tree = try PropertyListDocumentReader.tree(data, limits: limits)
            return try read(TreeTokens(tree, byteCount: data.count, limits: limits), limits)
        case .xml:
            return try read(XMLTokens(MemorySource(data), limits: limits), limits)
        }
    }

    // MARK: - Reading

    private static func read(_ source: some TokenSource, _ limits: DocumentLimits) throws -> GraphDelta {
        var source = source
        guard try source.next() == .beginObject else { throw notADelta(at: source.place) }
        let headerAhead = try source.treeAhead(under: Array(RecordMember.header.utf8))
        guard try source.next() == .key else { throw notADelta(at: source.place) }
        let headerPlace = source.place
        // The members are in any order.
        let isHeaderFirst = source.tokenText() == RecordMember.header
        guard isHeaderFirst || source.tokenText() == RecordMember.changes,
            let headerTree = try isHeaderFirst ? source.readTree(source.next()) : headerAhead
        else { throw notADelta(at: headerPlace) }
        let headers = try self.headers(headerTree, at: headerPlace)
        var changes: [RecordChange] = []
        var known: Set<RecordChange.Place> = []
        var formerIDs: Set<RecordID> = []
        func add(_ tree: ReadableValue, at place: DocumentPlace) throws {
            guard changes.count < limits.recordCount else {
                throw DocumentError(.limit, "The document has more than \(limits.recordCount) changes.", at: place)
            }
            let change = try RecordChange(tree, at: place)
            guard known.insert(change.place).inserted else {
                throw DocumentError(.duplicateKey, "\(change.subject) has two changes.", at: place)
            }
            if case .updated(let update) = change, case .renamed(let old) = update.oldID {
                guard formerIDs.insert(old).inserted else {
                    throw DocumentError(.duplicateKey, "Two updated records had the id \(old).", at: place)
                }
            }
            changes.append(change)
        }
        switch try isHeaderFirst ? source.next() : .key {
        case .key where source.tokenText() == RecordMember.changes:
            guard try source.next() == .beginArray else {
                throw DocumentError(.syntax, "The changes are not an array.", at: source.place)
            }
            while case let token = try source.next(), token != .endArray {
                let place = source.place
                try add(source.readTree(token), at: place)
            }
            if !isHeaderFirst {
                guard try source.next() == .key, source.tokenText() == RecordMember.header else {
                    throw DocumentError(.syntax, "Expected the header after the changes.", at: source.place)
                }
                try source.skipValue(after: source.next())
            }
            guard try source.next() == .endObject, try source.next() == .end else {
                throw DocumentError(.syntax, "Unexpected content after the changes.", at: source.place)
            }
        case .endObject:
            // JSON Lines, or a delta without changes.
            var end: Int64?
            while case let token = try source.next(), token != .end {
                guard end == nil else {
                    throw DocumentError(.syntax, "Unexpected content after the last line.", at: source.place)
                }
                let place = source.place
                let tree = try source.readTree(token)
                if case .value(.integer(let count))? = tree.member(RecordMember.end) {
                    end = count
                } else {
                    try add(tree, at: place)
                }
            }
            let statesEnd = headerTree.member(RecordMember.endInHeader) == .value(.bool(true))
            guard statesEnd ? end == Int64(changes.count) : end == nil else {
                throw DocumentError(
                    .truncated, "The document is cut off: its last line does not state the number of its changes.",
                    at: source.place)
            }
        default:
            throw DocumentError(.syntax, "Expected the changes after the header.", at: source.place)
        }
        return GraphDelta(
            changes, oldHeader: headers.old, newHeader: headers.new, knowledge: headers.knowledge)
    }

    private static func notADelta(at place: DocumentPlace) -> DocumentError {
        DocumentError(.unsupported, "The document is not a delta.", at: place)
    }

    // MARK: - The header

    private static func headerTree(_ delta: GraphDelta, statesEnd: Bool) -> ReadableValue {
        var members: [ReadableValue.Member] = [
            .init(name: "format", value: .value(.string(formatName))),
            .init(name: "version", value: .value(.integer(delta.hasRenamedRecords ? 2 : 1))),
        ]
        if delta.knowledge != .both {
            members.append(.init(name: "knows", value: .value(.string(delta.knowledge.rawValue))))
        }
        if statesEnd { members.append(.init(name: RecordMember.endInHeader, value: .value(.bool(true)))) }
        if let old = delta.oldHeader { members.append(.init(name: "old", value: old.tree)) }
        if let new = delta.newHeader { members.append(.init(name: "new", value: new.tree)) }
        return .dictionary(members)
    }

    private static func headers(
        _ tree: ReadableValue, at place: DocumentPlace
    ) throws -> (old: DocumentHeader?, new: DocumentHeader?, knowledge: GraphDelta.Knowledge) {
        guard case .value(.string(formatName))? = tree.member("format") else {
            throw DocumentError(.unsupported, "The document is not a delta.", at: place.member("format"))
        }
        guard case .value(.integer(let version))? = tree.member("version"), version <= currentVersion else {
            throw DocumentError(
                .unsupported, "The delta has a newer version; this library reads up to \(currentVersion).",
                at: place.member("version"))
        }
        var knowledge = GraphDelta.Knowledge.both
        if let word = tree.member("knows") {
            guard case .value(.string(let text)) = word, let known = GraphDelta.Knowledge(rawValue: text) else {
                throw DocumentError(
                    .unsupported, "The header of the delta has no valid `knows`.", at: place.member("knows"))
            }
            knowledge = known
        }
        return (
            try tree.member("old").map { try DocumentHeader(tree: $0, at: place.member("old")) },
            try tree.member("new").map { try DocumentHeader(tree: $0, at: place.member("new")) }, knowledge
        )
    }
}

extension GraphDelta {
    /// The delta as a document in memory. Throws `DocumentError`.
    public func encoded(as format: GraphFormat = .json) throws -> Data {
        let sink = MemorySink()
        try DeltaDocument.write(self, as: format, to: ByteOutput(to: sink))
        return sink.data
    }

    /// Reads a delta from a document of any format. Throws `DocumentError`.
    public init(_ data: Data, limits: DocumentLimits = .standard) throws {
        self = try DeltaDocument.read(data, limits: limits)
    }
}

extension GraphDelta: ErrorDomain {
    /// The record of the error.
    public typealias Place = RecordSubject

    /// The sentence alone, which names the place.
    public static func _description(of message: String, at place: RecordSubject?) -> String { message }
}

/// The reason why a delta cannot be applied or joined.
public typealias DeltaError = CodedError<GraphDelta>

extension DeltaError.Code {
    /// The graph does not have the old state of the delta.
    public static let mismatch = Self(rawValue: "mismatch")
    /// The delta updates or deletes a record that does not exist.
    public static let missing = Self(rawValue: "missing")
    /// The delta inserts a record that already exists.
    public static let exists = Self(rawValue: "exists")
    /// Two deltas to be joined do not follow one another.
    public static let unrelated = Self(rawValue: "unrelated")
    /// The delta was computed from a token, and does not contain old values.
    public static let oneWay = Self(rawValue: "oneWay")
    /// The delta updates a record whose natural key may have changed, and does not contain the former key.
    public static let unknownKey = Self(rawValue: "unknownKey")
    /// A compared state contains two records with the same entity and id.
    public static let repeated = Self(rawValue: "repeated")
    /// Both sides of a merge have changed the same property or record, and the policy is to fail.
    public static let conflict = Self(rawValue: "conflict")
}

extension DeltaError {
    static func repeated(_ subject: RecordSubject) -> DeltaError {
        DeltaError(.repeated, "Two records have the id \(subject.id).", at: subject)
    }
}
