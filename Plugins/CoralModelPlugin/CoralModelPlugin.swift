import Foundation
import PackagePlugin

/// Does for a target what Xcode does: each `X.xcdatamodeld` in its folder becomes the resource `X.momd` and the entity
/// classes `X+Classes.swift`.
///
/// In Xcode it does nothing, because Xcode does it.
@main
struct CoralModelPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) async throws -> [Command] {
        guard let target = target as? any SourceModuleTarget, !isRunByXcode(context) else { return [] }
        let compiler = try context.tool(named: "coral-modelc").url
        return models(in: target).map { model in
            let name = model.deletingPathExtension().lastPathComponent
            let isBundle = model.pathExtension == "xcdatamodeld"
            let output = context.pluginWorkDirectoryURL.appending(path: name)
            return .buildCommand(
                displayName: "Compiling \(model.lastPathComponent)", executable: compiler,
                arguments: [
                    model.path(percentEncoded: false), "--output", output.path(percentEncoded: false),
                    "--module", target.moduleName,
                ],
                inputFiles: inputs(of: model),
                outputFiles: [
                    output.appending(path: name + (isBundle ? ".momd" : ".mom")),
                    output.appending(path: name + "+Classes.swift"),
                ])
        }
    }

    /// The models of a target, at any depth of its folder, in the order of their paths. What the manifest excludes is
    /// left out.
    private func models(in target: any SourceModuleTarget) -> [URL] {
        var models: Set<URL> = []
        for file in files(in: target.directoryURL) {
            // The outermost folder that is a model: a bundle holds others.
            var url = file
            var model: URL?
            while url.path.count > target.directoryURL.path.count {
                if ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) { model = url }
                url.deleteLastPathComponent()
            }
            if let model { models.insert(model.standardizedFileURL) }
        }
        return models.sorted { $0.path < $1.path }
    }

    /// Everything that a model consists of: a change of any of it compiles the model anew. The folder is among them, so
    /// that it counts as taken care of, and a new version is noticed.
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

    /// Xcode keeps what plugins make beside its own products, and says which program it is.
    private func isRunByXcode(_ context: PluginContext) -> Bool {
        ProcessInfo.processInfo.environment["__CFBundleIdentifier"] == "com.apple.dt.Xcode"
            || ProcessInfo.processInfo.environment["XCODE_VERSION_ACTUAL"] != nil
            || context.pluginWorkDirectoryURL.path.contains("/SourcePackages/plugins/")
    }
}
