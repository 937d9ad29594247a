import Foundation
import KeyedArchives
import Testing

@testable import ModelFiles

@Suite("Version hashes")
struct VersionHashTests {
    private func hexadecimal(_ data: Data?) -> String {
        (data ?? Data()).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private var user: ModelEntity {
        ModelEntity(
            name: "User",
            attributes: [
                ModelAttribute(name: "name", type: .string),
                ModelAttribute(name: "petName", type: .string, isOptional: true),
            ])
    }

    @Test("Names are ordered by UTF-16 unit")
    func order() {
        let names = ["", "A", "Z", "a", "aa", "ab", "é", "\u{7FF}", "\u{D7FF}", "a🎈", "🎈", "🎉", "\u{E000}", "\u{FFFD}"]
        for (left, right) in names.flatMap({ left in names.map { (left, $0) } }) {
            #expect(VersionHash.isOrdered(left, right) == left.utf16.lexicographicallyPrecedes(right.utf16))
        }
    }

    @Test("An attribute hashes by name, flags and type")
    func attribute() {
        let attributes = user.attributes.map { hexadecimal(VersionHash.propertyHash($0)) }
        #expect(
            attributes == [
                "8cb9965c0031ac68913984f3110941ad965395be9fd9b17de7be54bc7ad46890",
                "3600ceedf50b080f90041365395158784f0deb03bc9acddf1cad607c4fe50742",
            ])
    }

    @Test("A relationship hashes by destination, inverse and counts")
    func relationship() {
        let owner = ModelRelationship(name: "owner", destinationName: "User", inverseName: "pet")
        #expect(
            hexadecimal(VersionHash.propertyHash(owner, owner: ModelEntity(name: "Pet")))
                == "431f6f1bba544821111be3775dd3a03ddbc8962f0e0ccfd5b5694e59ecf6447c")
    }

    @Test("The hash of an entity and of a model covers their parts")
    func model() {
        let hash = VersionHash(Model(entities: [user]))
        #expect(
            hexadecimal(hash.entityHashes["User"])
                == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
        #expect(hash.checksum == "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=")
    }

    @Test("Parts that are not hashed do not change a hash")
    func indifference() {
        var other = user
        other.className = "Person"
        other.renamingIdentifier = "Person"
        other.userInfo = ["a": "b"]
        other.attributes[0].defaultValue = .string("Ann")
        other.attributes[0].minimum = .integer(1)
        other.attributes.append(ModelAttribute(name: "cache", type: .undefined, isTransient: true))
        #expect(VersionHash(Model(entities: [other])).entityHashes == VersionHash(Model(entities: [user])).entityHashes)
    }

    @Test("An entity that inherits from itself also has a hash")
    func cycle() {
        let model = Model(entities: [ModelEntity(name: "A", parentName: "B"), ModelEntity(name: "B", parentName: "A")])
        #expect(VersionHash(model).entityHashes.count == 2)
    }

    @Test("The hashes of a model are those in its store", .enabled(if: Corpus.hasSQLite), arguments: Corpus.pairs)
    func pair(_ pair: Corpus.Pair) throws {
        let metadata = try Corpus.metadata(of: pair.store)
        let recorded = Corpus.hashes(in: metadata)
        var url = Corpus.url(pair.model)
        if pair.isAmbiguous { url = url.deletingLastPathComponent().deletingLastPathComponent() }
        let file = try ModelFile.read(at: url)
        let named = pair.version.map { name in file.versions.filter { $0.name == name } } ?? file.versions
        let hashes = named.map { VersionHash($0.model) }
        let hash = try #require(hashes.first { $0.entityHashes == recorded })
        if let digest = metadata["NSStoreModelVersionHashesDigest"]?.string { #expect(hash.digest == digest) }
        if let checksum = metadata["NSStoreModelVersionChecksumKey"]?.string { #expect(hash.checksum == checksum) }
    }

    @Test(
        "A cached model hashes to what its store recorded", .enabled(if: Corpus.hasSQLite),
        arguments: Corpus.storesWithCache)
    func cached(_ store: String) throws {
        let metadata = try Corpus.metadata(of: store)
        let hash = VersionHash(try ModelCache.read(Corpus.cache(of: store)))
        let recorded = Corpus.hashes(in: metadata)
        #expect(hash.entityHashes.keys.sorted() == recorded.keys.sorted())
        #expect(hash.entityHashes.filter { recorded[$0.key] != $0.value }.keys.sorted() == [])
        if let digest = metadata["NSStoreModelVersionHashesDigest"]?.string { #expect(hash.digest == digest) }
    }

    @Test(
        "The hashes are those of the bundle", .enabled(if: Corpus.isPresent),
        arguments: Corpus.files("VersionInfo.plist"))
    func versionInfo(_ path: String) throws {
        let recorded = try PropertyListValue(propertyList: Corpus.data(path))
        let file = try ModelFile.read(at: Corpus.url(path).deletingLastPathComponent())
        let written = try PropertyListValue(propertyList: file.versionInfo())
        #expect(
            written["NSManagedObjectModel_CurrentVersionName"] == recorded["NSManagedObjectModel_CurrentVersionName"])
        #expect(written["NSManagedObjectModel_VersionHashes"] == recorded["NSManagedObjectModel_VersionHashes"])
        if let checksums = recorded["NSManagedObjectModel_VersionChecksums"] {
            #expect(written["NSManagedObjectModel_VersionChecksums"] == checksums)
        }
    }
}
