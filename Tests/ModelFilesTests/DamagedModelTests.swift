import Foundation
import KeyedArchives
import Testing

@testable import ModelFiles

@Suite("Damaged files")
struct DamagedModelTests {
    @Test("A file that is not a model is rejected with a reason", .enabled(if: Corpus.isPresent))
    func otherFiles() throws {
        func code(_ path: String) -> ModelError.Code? {
            do {
                _ = try ModelFile.read(at: Corpus.url(path))
                return nil
            } catch {
                return (error as? ModelError)?.code
            }
        }
        let fixtures = "alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures"
        #expect(code("nothing") == .unreadableFile)
        #expect(code(fixtures) == .unknownFormat)
        #expect(code("\(fixtures)/SampleModel_V1.sqlite") == .unknownFormat)
        #expect(code("\(fixtures)/SampleModel.momd/SampleModel.omo") == .unknownFormat)
        #expect(code("\(fixtures)/SampleModel.momd/VersionInfo.plist") == .malformedFile)
        #expect(code("INDEX.md") == .unknownFormat)
    }

    /// A file that is truncated or has changed bytes is read or rejected, without crashing.
    private func damage(_ data: Data, _ read: (Data) throws -> Model) {
        var survivors = 0
        for length in stride(from: 0, to: data.count, by: max(1, data.count / 31)) {
            if (try? read(data.prefix(length))) != nil { survivors += 1 }
        }
        #expect(survivors == 0)
        var generator: UInt64 = 0x9E37_79B9_7F4A_7C15
        for _ in 0..<60 {
            var damaged = data
            for _ in 0..<3 {
                generator = generator &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let position = damaged.startIndex + Int(generator >> 33) % damaged.count
                damaged[position] = UInt8(truncatingIfNeeded: generator >> 24)
            }
            do {
                _ = try read(damaged).validate()
            } catch {
                #expect(error is ModelError)
            }
        }
    }

    @Test("Compiled models", arguments: Corpus.files(".mom"))
    func compiled(_ path: String) throws {
        damage(try Corpus.data(path)) { try ModelArchive.read($0) }
    }

    @Test("Old source models", arguments: Corpus.files("/elements"))
    func elements(_ path: String) throws {
        damage(try Corpus.data(path)) { try ModelElementsReader.read($0) }
    }

    @Test("Source models", arguments: Corpus.files("Moody 3.xcdatamodel/contents"))
    func source(_ path: String) throws {
        damage(try Corpus.data(path)) { try ModelSourceReader.read($0) }
    }

    @Test("Cached models", .enabled(if: Corpus.hasSQLite))
    func cached() throws {
        let content = try Corpus.cache(of: "objcio+core-data/Migrations/MigrationsTests/Moody.moody")
        damage(content) { try ModelCache.read($0) }
    }

    @Test("Random bytes")
    func random() {
        for length in 0..<200 {
            let bytes = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ length) })
            #expect(throws: ModelError.self) { try ModelArchive.read(bytes) }
            #expect(throws: ModelError.self) { try ModelCache.read(bytes) }
            #expect(throws: ModelError.self) { try ModelArchive.read(Data("bplist00".utf8) + bytes) }
        }
    }
}
