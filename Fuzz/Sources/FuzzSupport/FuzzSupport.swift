import Foundation
import GraphDocuments

/// The bytes of an input of libFuzzer.
public func input(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Data {
    bytes.map { Data(bytes: $0, count: count) } ?? Data()
}

/// Reads an input, which must succeed or throw an error of the given type. Any other error stops the fuzzer, as a trap
/// does.
public func read<Failure: Error>(expecting _: Failure.Type, _ body: () throws -> Void) {
    do {
        try body()
    } catch is Failure {
    } catch {
        preconditionFailure("An error of another kind: \(error)")
    }
}

/// Runs code that may throw any error: only traps, hangs and excessive memory are failures.
public func attempt(_ body: () throws -> Void) {
    do { try body() } catch {}
}

/// Reads a document to its end, with small limits, so that inputs reach them.
public func readDocument(_ data: Data, as format: GraphFormat) {
    read(expecting: DocumentError.self) {
        var options = ReadingOptions(
            limits: DocumentLimits(depth: 200, recordCount: 1000, stringLength: 1 << 16, keyLength: 200))
        options.keepsMismatchedValues = data.count.isMultiple(of: 2)
        var reader = try format.reader(of: data, schema: schema, options: options)
        while try reader.nextPlaced() != nil {}
    }
}

/// Reads a document in all forms that contain no records of this library.
public func readTrees(_ data: Data) {
    let limits = DocumentLimits(depth: 200, recordCount: 1000, stringLength: 1 << 16, keyLength: 200)
    var options = ReadingOptions(limits: limits)
    options.allowsTrailingCommas = true
    read(expecting: DocumentError.self) { _ = try TreeDocument.read(data, options: options) }
    read(expecting: DocumentError.self) { _ = try GraphDelta(data, limits: limits) }
    for entity in [nil, "Thing"] {
        read(expecting: DocumentError.self) {
            _ = try ForeignDocument.records(of: data, schema: schema, entity: entity, limits: limits)
        }
    }
    guard let plan, let format = GraphFormat.detect(data) else { return }
    options.rootEntity = "Thing"
    read(expecting: DocumentError.self) {
        var reader = try format.reader(of: data, plan: plan, options: options)
        while try reader.nextPlaced() != nil {}
    }
}

/// Reads a mapping from the first lines, and a document by it from the others.
public func readMapped(_ data: Data) {
    var lines = data.split(separator: UInt8(ascii: "\n"), maxSplits: 6, omittingEmptySubsequences: false)
    let document = lines.count == 7 ? Data(lines.removeLast()) : Data()
    let words = lines.map { String(decoding: $0, as: UTF8.self) } + Array(repeating: "", count: 6)
    var mapping = Mapping(keys: data.count.isMultiple(of: 2) ? .snakeCase : .same)
    mapping["Thing"]["string"].keys = words[0].components(separatedBy: ",")
    mapping["Thing"]["date"].dates = MappedDates([.format(words[1]), .unix])
    mapping["Thing"].identity = words[2].components(separatedBy: ",")
    mapping["Thing"]["parent"].referenceKeys = words[3].components(separatedBy: ",")
    mapping["Thing"].choice = .value(of: words[4], ["part": "Part"])
    mapping["Thing"].documentKey = words[5].isEmpty ? nil : words[5]
    var plan: MappingPlan?
    read(expecting: MappingError.self) { plan = try MappingPlan(mapping, schema: schema) }
    guard let plan, let format = GraphFormat.detect(document) else { return }
    var options = ReadingOptions(
        limits: DocumentLimits(depth: 200, recordCount: 1000, stringLength: 1 << 16, keyLength: 200))
    options.rootEntity = "Thing"
    read(expecting: DocumentError.self) {
        var reader = try format.reader(of: document, plan: plan, options: options)
        while try reader.nextPlaced() != nil {}
    }
}

/// A mapping with paths, keyed objects, dates, defaults and an entity chosen by content. Unsafe, because a plan is not Sendable;
/// libFuzzer calls from one thread.
nonisolated(unsafe) private let plan: MappingPlan? = {
    var mapping = Mapping(keys: .snakeCase)
    mapping["Thing"].identity = ["string"]
    mapping["Thing"]["string"].keys = ["meta.names[0]", "meta.names[-1]", "@key", "string"]
    mapping["Thing"]["date"].dates = MappedDates([.format("d/M/yyyy HH:mm"), .unix])
    mapping["Thing"]["integer16"].defaultValue = .integer(7)
    mapping["Thing"]["children"].isKeyed = true
    mapping["Thing"]["parent"].referenceKeys = ["parent_id"]
    mapping["Thing"].choice = .value(of: "kind", ["part": "Part"])
    return try? MappingPlan(mapping, schema: schema)
}()

/// Every type of attribute and every kind of relationship.
private let schema: GraphSchema = {
    let attributes = GraphValueType.allCases.map { type in
        GraphSchema.Attribute(
            name: type.name, type: type,
            elements: type == .composite ? [GraphSchema.Attribute(name: "when", type: .date)] : [])
    }
    let relationships = [
        GraphSchema.Relationship(name: "parent", destination: "Thing", inverse: "children"),
        GraphSchema.Relationship(name: "children", destination: "Thing", inverse: "parent", isToMany: true),
        GraphSchema.Relationship(name: "steps", destination: "Thing", isToMany: true, isOrdered: true),
    ]
    return GraphSchema(entities: [
        GraphSchema.Entity(name: "Thing", attributes: attributes, relationships: relationships),
        GraphSchema.Entity(name: "Part", parent: "Thing", attributes: attributes, relationships: relationships),
    ])
}()
