import Foundation
import KeyedArchives

extension ModelFile {
    /// Writes the versions as a compiled bundle, a `.momd`: a `.mom` for each, and `VersionInfo.plist` with their
    /// hashes. Existing files of the same names are replaced; other files are kept.
    ///
    /// The module's name, if given, is prefixed to class names of the form `.Name`. Throws ``ModelError`` when a model
    /// cannot be compiled or a file cannot be written.
    public func writeCompiledBundle(to url: URL, moduleName: String? = nil) throws {
        try Self.makeDirectory(url)
        for version in versions {
            let data = try ModelArchive.write(version.model, moduleName: moduleName)
            try Self.write(data, to: url.appendingPathComponent(version.name + ".mom"))
        }
        try Self.write(try versionInfo(), to: url.appendingPathComponent("VersionInfo.plist"))
    }

    /// The binary property list `VersionInfo.plist` of a compiled bundle.
    public func versionInfo() throws -> Data {
        var hashes: [String: PropertyListValue] = [:]
        var checksums: [String: PropertyListValue] = [:]
        for version in versions {
            let hash = VersionHash(version.model)
            hashes[version.name] = .dictionary(
                PropertyListDictionary(sorted: hash.entityHashes.mapValues { .data($0) }))
            checksums[version.name] = .string(hash.checksum)
        }
        let info = PropertyListDictionary([
            ("NSManagedObjectModel_CurrentVersionName", .string(current.name)),
            ("NSManagedObjectModel_VersionChecksums", .dictionary(PropertyListDictionary(sorted: checksums))),
            ("NSManagedObjectModel_VersionHashes", .dictionary(PropertyListDictionary(sorted: hashes))),
        ])
        return try ModelArchive.reportingErrors(in: nil) { try BinaryPropertyList.write(.dictionary(info)) }
    }

    /// Writes the versions as a source bundle, an `.xcdatamodeld`, with the name of the current one.
    ///
    /// Throws ``ModelError`` when a predicate cannot be printed or a file cannot be written.
    public func writeSourceBundle(to url: URL) throws {
        try Self.makeDirectory(url)
        for version in versions {
            let directory = url.appendingPathComponent(version.name + ".xcdatamodel")
            try Self.makeDirectory(directory)
            try Self.write(ModelSourceWriter.write(version.model), to: directory.appendingPathComponent("contents"))
        }
        guard versions.count > 1 else { return }
        let name = SourceXML.escaped(current.name + ".xcdatamodel")
        let propertyList = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<key>_XCCurrentVersionName</key>
            \t<string>\(name)</string>
            </dict>
            </plist>

            """
        try Self.write(Data(propertyList.utf8), to: url.appendingPathComponent(".xccurrentversion"))
    }

    private static func makeDirectory(_ url: URL) throws {
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw ModelError(.unreadableFile, "The directory cannot be created.", file: url.path)
        }
    }

    private static func write(_ data: Data, to url: URL) throws {
        do {
            try data.write(to: url, options: .atomic)
        } catch {
            throw ModelError(.unreadableFile, "The file cannot be written.", file: url.path)
        }
    }
}
