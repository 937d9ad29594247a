import Foundation
import KeyedArchives
import Testing

@testable import GraphDocuments

/// The inputs of the fuzzers in `Fuzz`, including those that crashed earlier versions, are read or rejected.
@Suite struct FuzzCorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fuzz/Corpus")

    private static func files(_ reader: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: folder.appendingPathComponent(reader), includingPropertiesForKeys: nil)
    }

    @Test(arguments: [
        ("JSON", GraphFormat.json), ("Lines", .jsonLines), ("XML", .xml), ("PropertyList", .propertyList),
    ])
    func documents(reader: String, format: GraphFormat) throws {
        for file in try Self.files(reader) {
            let data = try Data(contentsOf: file)
            do {
                var reader = try format.reader(of: data, schema: RandomGraph.schema)
                while try reader.nextPlaced() != nil {}
            } catch {
                #expect(error is DocumentError, "\(file.lastPathComponent)")
            }
            do { _ = try TreeDocument.read(data) } catch { #expect(error is DocumentError) }
            do { _ = try GraphDelta(data) } catch { #expect(error is DocumentError) }
        }
    }

    @Test func documentsOfOtherPrograms() throws {
        var mapping = Mapping(keys: .snakeCase)
        mapping["Thing"]["children"].isKeyed = true
        mapping["Thing"]["title"].keys = ["meta.names[0]", "@key", "string"]
        let plan = try MappingPlan(mapping, schema: RandomGraph.schema)
        for file in try Self.files("Tree") + Self.files("JSON") {
            let data = try Data(contentsOf: file)
            do { _ = try TreeDocument.read(data) } catch { #expect(error is DocumentError) }
            do { _ = try GraphDelta(data) } catch { #expect(error is DocumentError) }
            for entity in [nil, "Thing"] {
                do {
                    _ = try ForeignDocument.records(of: data, schema: RandomGraph.schema, entity: entity)
                } catch {
                    #expect(error is DocumentError)
                }
            }
            do {
                var options = ReadingOptions(rootEntity: "Thing")
                options.allowsTrailingCommas = true
                var reader = try GraphFormat.json.reader(of: data, plan: plan, options: options)
                while try reader.nextPlaced() != nil {}
            } catch {
                #expect(error is DocumentError)
            }
        }
    }

    @Test func archives() throws {
        for file in try Self.files("KeyedArchive") + Self.files("PropertyList") {
            let data = try Data(contentsOf: file)
            do { _ = try KeyedArchives.ReadableValue(archive: data) } catch { #expect(error is ArchiveError) }
            do { _ = try PropertyListValue(propertyList: data) } catch { #expect(error is ArchiveError) }
        }
    }
}
