import Foundation
import PackagePlugin

/// Compiles models as Xcode does: each `X.xcdatamodeld` in a target's folder becomes the resource `X.momd` and the
/// entity classes `X+Classes.swift`, and each mapping model `X.xcmappingmodel` the resource `X.cdm`.
///
/// Outside Apple's platforms it also writes the accessors of `@NSManaged` properties, which the compiler does not implement
/// there.
///
/// Does nothing in Xcode, which compiles models itself.
@main
struct CoralModelPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) async throws -> [Command] {
        guard let target = target as? any SourceModuleTarget, !isRunByXcode(context) else { return [] }
        let compiler = try context.tool(named: "coral-modelc").url
        let models = models(in: target)
        var classes: [URL] = []
        var commands: [Command] = []
        for model in models {
            if model.pathExtension == "xcmappingmodel" {
                commands.append(command(for: model, models, compiler, context))
                continue
            }
            let name = model.deletingPathExtension().lastPathComponent
            let isBundle = model.pathExtension == "xcdatamodeld"
            let output = context.pluginWorkDirectoryURL.appending(path: name)
            classes.append(output.appending(path: name + "+Classes.swift"))
            commands.append(
                .buildCommand(
                    displayName: "Compiling \(model.lastPathComponent)", executable: compiler,
                    arguments: [
                        model.path(percentEncoded: false), "--output", output.path(percentEncoded: false),
                        "--module", target.moduleName,
                    ],
                    inputFiles: inputs(of: model),
                    outputFiles: [output.appending(path: name + (isBundle ? ".momd" : ".mom"))] + classes.suffix(1)))
        }
        #if !os(macOS)
            commands += accessors(in: target, classes, compiler, context)
        #endif
        return commands
    }

    /// Writes the accessors of the target's `@NSManaged` properties, and the names of the key paths of properties with
    /// `@objc`, if it has any. They can refer to generated classes.
    private func accessors(
        in target: any SourceModuleTarget, _ classes: [URL], _ compiler: URL, _ context: PluginContext
    ) -> [Command] {
        let sources = target.sourceFiles(withSuffix: "swift").map(\.url).sorted { $0.path < $1.path }
        let isManaged = sources.contains { source in
            guard let text = try? Data(contentsOf: source) else { return false }
            return ["@NSManaged", "@objc"].contains { text.range(of: Data($0.utf8)) != nil }
        }
        guard isManaged else { return [] }
        let output = context.pluginWorkDirectoryURL.appending(path: "ManagedAccessors.swift")
        let files = sources + classes
        return [
            .buildCommand(
                displayName: "Writing accessors of @NSManaged, and names of key paths", executable: compiler,
                arguments: ["accessors"] + files.map { $0.path(percentEncoded: false) }
                    + ["--module", target.moduleName, "--output", output.path(percentEncoded: false)],
                inputFiles: files, outputFiles: [output])
        ]
    }

    /// Compiles a mapping model. It is compiled again when a model changes, because it contains version hashes.
    private func command(for mapping: URL, _ models: [URL], _ compiler: URL, _ context: PluginContext) -> Command {
        let name = mapping.deletingPathExtension().lastPathComponent
        let output = context.pluginWorkDirectoryURL.appending(path: "\(name).mapping")
        return .buildCommand(
            displayName: "Compiling \(mapping.lastPathComponent)", executable: compiler,
            arguments: [mapping.path(percentEncoded: false), "--output", output.path(percentEncoded: false)],
            inputFiles: ([mapping] + models).flatMap(inputs).sorted { $0.path < $1.path },
            outputFiles: [output.appending(path: name + ".cdm")])
    }

    /// The models and mapping models of a target, at any depth of its folder, sorted by path. Files that the manifest excludes
    /// are omitted.
    private func models(in target: any SourceModuleTarget) -> [URL] {
        var models: Set<URL> = []
        for file in files(in: target.directoryURL) {
            // The topmost folder that is a model: a bundle contains further models.
            var url = file
            var model: URL?
            while url.path.count > target.directoryURL.path.count {
                if ["xcdatamodeld", "xcdatamodel", "xcmappingmodel"].contains(url.pathExtension) { model = url }
                url.deleteLastPathComponent()
            }
            if let model { models.insert(model.standardizedFileURL) }
        }
        return models.sorted { $0.path < $1.path }
    }

    /// All files of a model, so that a change of any of them compiles the model again. The folder is included, so that the
    /// package manager treats it as handled, and detects a new version.
    private func inputs(of model: URL) -> [URL] {
        [model] + files(in: model, hidden: true).sorted { $0.path < $1.path }
    }

    private func files(in directory: URL, hidden: Bool = false) -> [URL] {
        let enumerator = FileManager.default.enumerator(
            at: directory, includingPropertiesForKeys: [.isRegularFileKey],
            options: hidden ? [] : [.skipsHiddenFiles])
        return (enumerator?.compactMap { $0 as? URL } ?? []).filter { url in
            (try? url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true
        }
    }

    /// Xcode runs plugins with its own bundle identifier or version in the environment.
    private func isRunByXcode(_ context: PluginContext) -> Bool {
        ProcessInfo.processInfo.environment["__CFBundleIdentifier"] == "com.apple.dt.Xcode"
            || ProcessInfo.processInfo.environment["XCODE_VERSION_ACTUAL"] != nil
            || context.pluginWorkDirectoryURL.path.contains("/SourcePackages/plugins/")
    }
}
