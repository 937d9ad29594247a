// swift-tools-version: 6.1
import PackageDescription

// One libFuzzer program for each reader of what others may have written. A package of its own, because a fuzz target has
// no `main` and breaks a plain `swift build`. `Sources` holds links to the modules, so that these are built with the
// fuzzer's instrumentation too.

/// The readers, each a program `Fuzz…`, and the modules it needs besides `FuzzSupport`.
let readers: [(name: String, dependencies: [Target.Dependency])] = [
    ("JSON", ["GraphDocuments"]), ("Lines", ["GraphDocuments"]), ("XML", ["GraphDocuments"]),
    ("PropertyList", ["GraphDocuments"]), ("Tree", ["GraphDocuments"]), ("KeyedArchive", ["KeyedArchives"]),
    ("Predicate", ["PredicateLanguage"]), ("ModelSource", ["ModelFiles"]), ("CompiledModel", ["ModelFiles"]),
]

let package = Package(
    name: "coral-fuzz",
    platforms: [.macOS(.v12)],
    targets: [
        .target(name: "AtomicFiles"),
        .target(name: "KeyedArchives"),
        .target(name: "PredicateLanguage"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "ModelFiles",
            dependencies: ["AtomicFiles", "KeyedArchives", "PredicateLanguage", "CZlib"]),
        .target(name: "GraphDocuments", dependencies: ["AtomicFiles", "KeyedArchives"]),
        .target(name: "FuzzSupport", dependencies: ["GraphDocuments"]),
    ]
        + readers.map { reader in
            .executableTarget(
                name: "Fuzz\(reader.name)", dependencies: reader.dependencies + ["FuzzSupport"],
                // libFuzzer brings `main`.
                swiftSettings: [.unsafeFlags(["-parse-as-library"])])
        },
    swiftLanguageModes: [.v6]
)
