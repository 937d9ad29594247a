import AtomicFiles
import Foundation
import KeyedArchives

extension ModelFile {
    /// Writes the versions as a compiled bundle, a `.momd`: a `.mom` for each, and `VersionInfo.plist` with their
    /// hashes. An existing bundle is replaced when the new one is complete.
    ///
    /// The module's name, if given, is prefixed to class names of the form `.Name`. Throws ``ModelError`` when a model
    /// cannot be compiled, when that would change its version hashes, or when a file cannot be written.
    ///
    /// - Returns: The omissions: the changes that the form cannot represent.
    @discardableResult
    public func writeCompiledBundle(to url: URL, moduleName: String? = nil) throws -> [ModelDifference.Change] {
        let conversions = try versions.map { try ModelConversion.compiled(of: $0.model, moduleName: moduleName) }
        try ModelReplacement.write(to: url) { url in
            try Self.makeDirectory(url)
            for (version, conversion) in zip(versions, conversions) {
                try Self.write(conversion.data, to: url.appendingPathComponent(version.name + ".mom"))
            }
            try Self.write(try versionInfo(), to: url.appendingPathComponent("VersionInfo.plist"))
        }
        return conversions.flatMap(\.omissions)
    }

    /// Writes one model as a `.mom`; an existing file is replaced atomically. Throws and returns as
    /// ``writeCompiledBundle(to:moduleName:)`` does.
    @discardableResult
    package static func writeCompiledModel(_ model: Model, to url: URL) throws -> [ModelDifference.Change] {
        let conversion = try ModelConversion.compiled(of: model)
        try ModelReplacement.write(conversion.data, to: url)
        return conversion.omissions
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

    /// Writes the versions as a source bundle, an `.xcdatamodeld`, with the name of the current one. An existing bundle
    /// is replaced when the new one is complete.
    ///
    /// Throws ``ModelError`` when a predicate cannot be printed, when version hashes would change, or when a file
    /// cannot be written.
    ///
    /// - Returns: The omissions: the changes that the form cannot represent.
    @discardableResult
    public func writeSourceBundle(to url: URL) throws -> [ModelDifference.Change] {
        let conversions = try versions.map { try ModelConversion.source(of: $0.model) }
        try ModelReplacement.write(to: url) { url in
            try Self.makeDirectory(url)
            for (version, conversion) in zip(versions, conversions) {
                try Self.write(conversion, to: url.appendingPathComponent(version.name + ".xcdatamodel"))
            }
            try writeCurrentVersion(to: url)
        }
        return conversions.flatMap(\.omissions)
    }

    /// Writes one model as an `.xcdatamodel`, a folder; an existing one is replaced when the new one is complete.
    /// Throws and returns as ``writeSourceBundle(to:)`` does.
    package static func writeSourceModel(_ model: Model, to url: URL) throws -> [ModelDifference.Change] {
        let conversion = try ModelConversion.source(of: model)
        try ModelReplacement.write(to: url) { try write(conversion, to: $0) }
        return conversion.omissions
    }

    private static func write(_ source: ModelConversion, to directory: URL) throws {
        try makeDirectory(directory)
        try write(source.data, to: directory.appendingPathComponent("contents"))
    }

    private func writeCurrentVersion(to url: URL) throws {
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

    /// Writes a file into an unfinished bundle.
    static func write(_ data: Data, to url: URL) throws {
        do {
            try data.write(to: url)
        } catch {
            throw ModelError(
                .unreadableFile, "The file cannot be written: \(error.localizedDescription)", file: url.path)
        }
    }
}

/// Writes model files and bundles into a temporary folder beside the destination, and moves them there when they are
/// complete.
package enum ModelReplacement {
    /// Calls `write` with the temporary location, then moves the written file or folder to `destination`.
    ///
    /// - Throws: The errors of `write`, with `destination` as the file, and ``ModelError`` if `destination` cannot be written
    ///   to. On any error `destination` is unchanged.
    package static func write(to destination: URL, _ write: (URL) throws -> Void) throws {
        do {
            let folder = try PartialFolder(for: destination)
            do {
                try write(folder.item)
            } catch var error as ModelError {
                error.file = error.file?.replacingOccurrences(
                    of: folder.item.path, with: destination.path, options: .literal)
                throw error
            }
            try folder.commit()
        } catch let error as FileError {
            throw ModelError(.unreadableFile, "The file cannot be written: \(error.reason).", file: destination.path)
        }
    }

    /// Writes one file atomically.
    package static func write(_ data: Data, to destination: URL) throws {
        try write(to: destination) { try ModelFile.write(data, to: $0) }
    }
}
