import Foundation

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
