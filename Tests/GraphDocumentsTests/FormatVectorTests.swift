import Foundation
import GraphDocuments
import Testing

/// The test vectors of the format's description, which other implementations use too.
@Suite struct FormatVectorTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Documentation/Format/vectors")
    static let graphs = ["ids", "relationships", "values"]

    /// All files of a folder state the records of its `flat.json`.
    @Test(arguments: graphs)
    func `documents of a folder contain the same records`(_ graph: String) throws {
        let schema = try VectorModel.schema()
        let expected = try records(of: "\(graph)/flat.json", schema).1
        #expect(expected.count > 3)
        let names = try files(of: graph)
        #expect(names.count >= 4)
        for name in names {
            let (header, found) = try records(of: "\(graph)/\(name)", schema)
            #expect(Self.byID(found) == Self.byID(expected), "\(graph)/\(name)")
            #expect(header == nil || header?.format == DocumentHeader.formatName)
        }
    }

    /// The files that this library wrote are written again with the same bytes, as is promised for equal data.
    @Test(arguments: graphs)
    func `canonical documents keep their bytes`(_ graph: String) throws {
        let schema = try VectorModel.schema()
        let (header, records) = try records(of: "\(graph)/flat.json", schema)
        let written: [(String, GraphFormat)] = [
            ("flat.json", .json), ("lines.jsonl", .jsonLines), ("flat.xml", .xml), ("flat.plist", .xmlPropertyList),
        ]
        for (name, format) in written {
            let sink = MemorySink()
            var writer = try format.recordWriter(to: ByteOutput(to: sink), schema: schema)
            try writer.begin(try #require(header))
            for record in records { try writer.write(record) }
            try writer.finish()
            let expected = try Data(contentsOf: Self.folder.appendingPathComponent("\(graph)/\(name)"))
            #expect(sink.data == expected, "\(graph)/\(name)")
        }
    }

    @Test func `invalid documents are rejected with the stated code`() throws {
        let schema = try VectorModel.schema()
        let list = try Data(contentsOf: Self.folder.appendingPathComponent("invalid/errors.json"))
        let codes = try JSONDecoder().decode([String: String].self, from: list)
        #expect(Set(codes.keys) == Set(try files(of: "invalid")).subtracting(["errors.json"]))
        for (name, code) in codes {
            let error = #expect(throws: DocumentError.self, "\(name)") { try records(of: "invalid/\(name)", schema) }
            #expect(error?.code.rawValue == code, "\(name)")
        }
    }

    private func files(of folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Self.folder.appendingPathComponent(folder).path).sorted()
    }

    private func records(of path: String, _ schema: GraphSchema) throws -> (DocumentHeader?, [GraphRecord]) {
        let file = Self.folder.appendingPathComponent(path)
        let data = try Data(contentsOf: file)
        let format = file.pathExtension == "jsonl" ? .jsonLines : GraphFormat.detect(data) ?? .json
        var reader = try format.reader(of: data, schema: schema)
        var records: [GraphRecord] = []
        while let placed = try reader.nextPlaced() { records.append(placed.record) }
        return (reader.header, records)
    }

    /// The order of records and of their members differs between layouts and has no meaning.
    private static func byID(_ records: [GraphRecord]) -> [RecordID: [GraphRecord]] {
        Dictionary(
            grouping: records.map { record in
                var record = record
                record.attributes.sort { $0.name < $1.name }
                record.relationships.sort { $0.name < $1.name }
                return record
            }, by: \.id)
    }
}

/// The model of the vectors, in the form of `model.json`.
private struct VectorModel: Decodable {
    struct Attribute: Decodable {
        var name: String
        var type: String
        var elements: [Attribute]?

        func declared() throws -> GraphSchema.Attribute {
            let type = try #require(GraphValueType.allCases.first { $0.name == self.type })
            return .init(name: name, type: type, elements: try (elements ?? []).map { try $0.declared() })
        }
    }

    struct Relationship: Decodable {
        var name: String
        var destination: String
        var inverse: String
        var toMany: Bool?
        var ordered: Bool?
    }

    struct Entity: Decodable {
        var name: String
        var parent: String?
        var attributes: [Attribute]
        var relationships: [Relationship]
    }

    var entities: [Entity]

    static func schema() throws -> GraphSchema {
        let data = try Data(contentsOf: FormatVectorTests.folder.appendingPathComponent("model.json"))
        return GraphSchema(
            entities: try JSONDecoder().decode(Self.self, from: data).entities.map { entity in
                .init(
                    name: entity.name, parent: entity.parent,
                    attributes: try entity.attributes.map { try $0.declared() },
                    relationships: entity.relationships.map {
                        .init(
                            name: $0.name, destination: $0.destination, inverse: $0.inverse,
                            isToMany: $0.toMany ?? false, isOrdered: $0.ordered ?? false)
                    })
            })
    }
}
