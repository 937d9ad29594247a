import Foundation
import GraphDocuments

/// The bytes that libFuzzer hands over.
public func input(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Data {
    bytes.map { Data(bytes: $0, count: count) } ?? Data()
}

/// Reads what must end in a value or in an error of the given type. Any other error stops the fuzzer, as a trap does.
public func read<Failure: Error>(expecting _: Failure.Type, _ body: () throws -> Void) {
    do {
        try body()
    } catch is Failure {
    } catch {
        preconditionFailure("An error of another kind: \(error)")
    }
}

/// Reads a document to its end, with small limits, so that the fuzzer meets them.
public func readDocument(_ data: Data, as format: GraphFormat) {
    read(expecting: DocumentError.self) {
        var options = ReadingOptions(
            limits: DocumentLimits(depth: 200, recordCount: 1000, stringLength: 1 << 16, keyLength: 200))
        options.keepsMismatchedValues = data.count.isMultiple(of: 2)
        var reader = try format.reader(of: data, schema: schema, options: options)
        while try reader.nextPlaced() != nil {}
    }
}

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
