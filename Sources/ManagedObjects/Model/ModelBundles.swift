import CoreDataErrors
import Foundation
import ModelFiles

/// Finds models in bundles.
package enum ModelBundles {
    /// All versions of a model file; empty if it cannot be read.
    package static func versions(at url: URL) -> [NSManagedObjectModel] {
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
    package static func models(in bundles: [Bundle]?, everyVersion: Bool) -> [NSManagedObjectModel] {
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

    /// The version in a `.momd` of bundles with which a store was written, of which only this version is read; nil if no
    /// `VersionInfo.plist` states all hashes of the store, or if what it states is not true.
    static func version(in bundles: [Bundle]?, metadata: [String: Any]) -> NSManagedObjectModel? {
        guard let hashes = StoreModelHashes(metadata: metadata)?.hashes, !hashes.isEmpty else { return nil }
        for url in urls(in: bundles ?? [.main], extensions: ["momd"]) {
            for (name, stated) in (try? ModelFile.statedHashes(ofBundleAt: url)) ?? [] {
                guard hashes.allSatisfy({ stated[$0.key] == $0.value }),
                    let version = versions(at: url.appendingPathComponent(name + ".mom")).first,
                    let found = NSManagedObjectModel(byMerging: [version], forStoreMetadata: metadata)
                else { continue }
                return found
            }
        }
        return nil
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
    package static func urls(in bundles: [Bundle], extensions: Set<String>) -> [URL] {
        var folders: [URL] = []
        for bundle in bundles {
            guard let folder = bundle.resourceURL else { continue }
            folders.append(folder)
            if bundle == .main { folders += bundlesOfModules(in: folder) }
        }
        var met: Set<String> = []
        return folders.flatMap(contents)
            .filter { extensions.contains($0.pathExtension) && met.insert($0.standardizedFileURL.path).inserted }
    }

    /// The bundles that the package manager creates for each target with resources, beside the program.
    static func bundlesOfModules(in folder: URL) -> [URL] {
        contents(of: folder).filter { $0.pathExtension == "resources" }
    }

    private static func name(_ url: URL) -> String { url.deletingPathExtension().lastPathComponent }

    private static func contents(of folder: URL) -> [URL] {
        let contents = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (contents ?? []).sorted { $0.path < $1.path }
    }
}

extension Bundle {
    /// The bundle with the resources of the module that declares a class; an addition to Foundation. Outside Apple's platforms
    /// `Bundle(for:)` is the program's bundle, and the resources of a package's target are in one of its own beside the program.
    ///
    /// Returns `Bundle(for:)` if the module has no resources. Cost: the program's folder is listed.
    public static func resources(ofModuleOf aClass: AnyClass) -> Bundle {
        let module = "_" + String(reflecting: aClass).prefix { $0 != "." }
        // The name is that of the package and that of the target, in which the module has other characters replaced.
        let found = Bundle.main.resourceURL.map(ModelBundles.bundlesOfModules)?.first { url in
            let name = url.deletingPathExtension().lastPathComponent
            return String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" }).hasSuffix(module)
        }
        return found.flatMap { Bundle(url: $0) } ?? Bundle(for: aClass)
    }
}
