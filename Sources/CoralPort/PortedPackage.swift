#if Macros
    import AtomicFiles
    import Dispatch
    import Foundation
    import ModelCodeGeneration

    /// The files of a package, and their rewriting.
    package struct PortedPackage {
        /// The Swift files.
        private(set) var files: [SourceFile] = []
        private var cFiles: [CSourceFile] = []
        /// Sentences about the files that are not rewritten, sorted by path.
        package private(set) var omissions: [String] = []
        private var manifests: [PackageManifest] = []
        private var models: [URL] = []
        private var resources = PackageIndex.Resources()
        /// The files that the rewriting has closed to other platforms, by their index.
        private var appleFiles: Set<Int> = []

        /// The maximum size in bytes of a file that is rewritten. Larger files are assumed to be generated.
        static let largestFile = 4 << 20

        /// Reads the files below a folder. Cost: every file is read and parsed once, on all processors.
        ///
        /// - Throws: ``PortError`` if a file cannot be read or is not UTF-8.
        package init(below folder: URL) throws {
            models = Self.models(below: folder)
            let urls = PortingFinding.swiftFiles(below: folder)
            for url in urls where url.lastPathComponent == "Package.swift" {
                guard let text = try text(of: url) else { continue }
                manifests.append(PackageManifest(SourceFile(text, url: url, module: "")))
            }
            // The innermost folder decides.
            let targets = manifests.flatMap { $0.targets(below: folder) }.sorted { $0.path.count > $1.path.count }
            func module(of url: URL) -> String {
                let path = url.standardizedFileURL.path
                return targets.first { path.hasPrefix($0.path) }?.module ?? SourceModule.folder(of: url, below: folder)
            }
            resources.modules = Set(models.map(module) + targets.filter(\.hasResources).map(\.module))
            for model in models {
                resources.models[model.deletingPathExtension().lastPathComponent, default: []].insert(module(of: model))
            }
            let sources = try urls.filter { $0.lastPathComponent != "Package.swift" }.compactMap { url in
                try text(of: url).map { (text: $0, url: url, module: module(of: url)) }
            }
            cFiles = PortingFinding.cFiles(below: folder).compactMap { url in
                (try? SourceText(contentsOf: url)).map { CSourceFile($0, url: url) }
            }
            for file in inParallel(sources, { SourceFile($0.text, url: $0.url, module: $0.module) }) { add(file) }
        }

        /// The text of a file; nil, and a sentence about the omission, if it is not to be rewritten.
        private mutating func text(of url: URL) throws -> SourceText? {
            if let size = FileStatus(url.path)?.byteCount, size > Self.largestFile {
                omissions.append("\(url.path) is larger than 4 MiB and is not rewritten.")
                return nil
            }
            let text = try SourceText(contentsOf: url)
            if text.isDeep {
                omissions.append("\(url.path) is nested too deeply and is not rewritten.")
                return nil
            }
            return text
        }

        init(_ files: [SourceFile], models: [URL] = []) {
            self.models = models
            for file in files { add(file) }
        }

        private mutating func add(_ file: SourceFile) {
            if file.tree.hasError {
                omissions.append("\(file.url.path) has syntax errors and is not rewritten.")
            } else {
                files.append(file)
            }
        }

        /// Rewrites the files. The order matters: rewrites that move declarations run before those that change attributes, and
        /// imports are added last.
        ///
        /// - Parameters:
        ///   - usesMacro: Whether classes with `@NSManaged` become classes with `@Managed`. Otherwise they stay, and the
        ///     build plugin writes the accessors.
        ///   - checkout: The folder of this package, which the manifests then name; nil leaves the manifests unchanged.
        package mutating func rewrite(usesMacro: Bool = false, checkout: URL? = nil) {
            let rewrites: [any Rewrite] =
                [
                    FoundationRewrite(), OptionalCallRewrite(), OptionalRequirementRewrite(),
                    ObjectiveCProtocolRewrite(),
                    ApplicationNotificationRewrite(),
                    UncaughtExceptionRewrite(), AppleImportRewrite(), AppleFileRewrite(), KeyPathRewrite(),
                    SetLiteralRewrite(),
                    RequestCastRewrite(), ClassForCoderRewrite(),
                    ModuleNameRewrite(), SelectorRewrite(), ExpectationWaitRewrite(), MainActorTestRewrite(),
                    ExceptionTestRewrite(), RaisedExceptionRewrite(), ExceptionCatcherRewrite(cFiles),
                    RequiredInitializerRewrite(),
                    OverrideRewrite(), AmbiguousNameRewrite(), MigrationFunctionRewrite(),
                    DestinationClassRewrite(models: models),
                    usesMacro ? ManagedClassRewrite() : HiddenClassRewrite(), ObjectiveCAttributeRewrite(),
                    ImportRewrite(),
                ]
            var index = PackageIndex(files, resources: resources)
            for rewrite in rewrites {
                // A pass applies replacements that do not overlap; nested ones need a pass for each level, which examines only the files
                // that the pass before has changed.
                for _ in 0..<16 {
                    let edits = rewrite.edits(in: index).edits
                    if edits.isEmpty { break }
                    if rewrite is AppleFileRewrite { appleFiles.formUnion(edits.keys) }
                    let changed = edits.map { (index: $0, file: files[$0], edits: $1) }
                    let parsed = inParallel(changed) { $0.file.applying($0.edits) }
                    for (place, file) in zip(changed, parsed) { files[place.index] = file }
                    index = PackageIndex(files, resources: resources, examining: Set(edits.keys))
                }
                index.examineAll()
            }
            CSourceFile.close(&cFiles)
            guard let checkout else { return }
            for manifest in manifests.indices {
                manifests[manifest].rewrite(for: files, models: models, checkout: checkout)
            }
        }

        /// The models below a folder: a bundle of versions counts as one.
        private static func models(below folder: URL) -> [URL] {
            var models: [URL] = []
            let enumerator = FileManager.default.enumerator(
                at: folder, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
            while let url = enumerator?.nextObject() as? URL {
                guard PackageManifest.modelExtensions.contains(url.pathExtension) else { continue }
                models.append(url)
                enumerator?.skipDescendants()
            }
            return models
        }

        package var changedFiles: [any RewrittenFile] {
            let files: [any RewrittenFile] = manifests.map(\.file) + files + cFiles
            return files.filter(\.isChanged)
        }

        /// Sentences about what the rewritten sources require, and about what they do otherwise than on Apple's platforms.
        package var advice: [String] {
            func hasNew(_ line: String, with text: String = "") -> Bool {
                files.contains { $0.isChanged && $0.contains(line) && !$0.original.contains(line) && $0.contains(text) }
            }
            var sentences: [String] = []
            if hasNew("import ManagedMacros") {
                sentences.append(
                    "The sources now use @Managed: in Package.swift the dependency on the package needs traits: [\"Macros\"], and the"
                        + " target needs the product ManagedMacros.")
            }
            if hasNew("import CoreFoundation", with: "CFRunLoop") { sentences.append(PortingRule.runLoopObservers) }
            if !appleFiles.isEmpty {
                let names = appleFiles.sorted().map { files[$0].url.lastPathComponent }.joined(separator: ", ")
                sentences.append("Compiled on Apple's platforms only, because they use their modules: \(names).")
            }
            return sentences
        }

        /// Writes the changed files, each atomically.
        ///
        /// - Throws: ``FileError`` if a file cannot be written. The files before it have been changed then.
        package func write() throws {
            for file in changedFiles {
                let folder = try PartialFolder(for: file.url)
                try file.data.write(to: folder.item)
                try folder.commit()
            }
        }
    }

    /// Applies a function to values on all processors. The parser takes most of the time of porting.
    private func inParallel<Value: Sendable, Result: Sendable>(
        _ values: [Value], _ transform: @Sendable (Value) -> Result
    ) -> [Result] {
        let lock = NSLock()
        // `nonisolated(unsafe)` because the lock guards it.
        nonisolated(unsafe) var results = [Result?](repeating: nil, count: values.count)
        DispatchQueue.concurrentPerform(iterations: values.count) { index in
            let result = transform(values[index])
            lock.withLock { results[index] = result }
        }
        return results.compactMap(\.self)
    }
#endif
