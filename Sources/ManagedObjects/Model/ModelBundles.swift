import Foundation
import ModelFiles

/// Finds models in bundles.
internal enum ModelBundles {
    /// All versions of a model file; empty if it cannot be read.
    static func versions(at url: URL) -> [NSManagedObjectModel] {
        guard let file = try? ModelFile.read(at: url) else { return [] }
        return file.versions.compactMap { try? NSManagedObjectModel(value: $0.model) }
    }

    /// The extensions of compiled models, and those of their sources, which the package manager copies where no plugin compiles
    /// them.
    private static let compiledExtensions: Set<String> = ["momd", "mom"]
    private static let sourceExtensions: Set<String> = ["xcdatamodeld", "xcdatamodel"]

    /// The models of bundles; nil means the main bundle. Files that cannot be read are skipped, and sources of models that a bundle
    /// has in compiled form.
    ///
    /// - Parameter everyVersion: Whether all versions of a `.momd` are returned, or the current one only.
    static func models(in bundles: [Bundle]?, everyVersion: Bool) -> [NSManagedObjectModel] {
        let bundles = bundles ?? [.main]
        let compiled = urls(in: bundles, extensions: compiledExtensions)
        let names = Set(compiled.map(name))
        let sources = urls(in: bundles, extensions: sourceExtensions).filter { !names.contains(name($0)) }
        return (compiled + sources).flatMap { url -> [NSManagedObjectModel] in
            guard let file = try? ModelFile.read(at: url) else { return [] }
            let values = everyVersion ? file.versions.map(\.model) : [file.model]
            return values.compactMap { try? NSManagedObjectModel(value: $0) }
        }
    }

    /// The checksum of each version in a `.momd`: from `VersionInfo.plist`, or else computed.
    static func checksums(ofVersionedModelAt url: URL) throws -> [String: String] {
        let file: ModelFile
        do {
            file = try ModelFile.read(at: url)
        } catch {
            throw CocoaError(
                .fileReadCorruptFile,
                userInfo: [
                    NSLocalizedDescriptionKey: String(describing: error), NSURLErrorKey: url,
                    NSUnderlyingErrorKey: error,
                ])
        }
        return Dictionary(
            file.versions.map { ($0.name, VersionHash($0.model).checksum) }, uniquingKeysWith: { first, _ in first })
    }

    /// The URLs of all files with one of the extensions at the top level of the bundles, sorted by path.
    static func urls(in bundles: [Bundle], extensions: Set<String>) -> [URL] {
        var folders: [URL] = []
        for bundle in bundles {
            guard let folder = bundle.resourceURL else { continue }
            folders.append(folder)
            // The package manager creates a resource bundle for each target, beside the program.
            if bundle == .main { folders += contents(of: folder).filter { $0.pathExtension == "resources" } }
        }
        var met: Set<String> = []
        return folders.flatMap(contents)
            .filter { extensions.contains($0.pathExtension) && met.insert($0.standardizedFileURL.path).inserted }
    }

    private static func name(_ url: URL) -> String { url.deletingPathExtension().lastPathComponent }

    private static func contents(of folder: URL) -> [URL] {
        let contents = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (contents ?? []).sorted { $0.path < $1.path }
    }
}
